import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHttpService, type InstanceType } from '@sluice/client';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { encodeLine } from '../../packages/home/src/journal/line-codec.ts';
import { isHosted } from '../../packages/host/src/execute/hosted-mark.ts';
import { createHandOver } from '../../packages/host/src/hosted/create-hand-over.ts';
import { removeOldRuns } from '../../packages/host/src/hosted/remove-old-runs.ts';
import { createSecretStore } from '../../packages/host/src/hosted/secret-store.ts';
import { openFollowers } from '../../packages/host/src/runs/open-followers.ts';
import {
  createCaller,
  createHostedPlace,
  digestOf,
  type HostedServer,
  type RecordedRun,
  recordRun,
} from './hosted-rig.ts';
import { until } from './workplace-rig.ts';

/** A process that is killed performs no more file operations. */
const life = vi.hoisted(() => ({ operations: Number.POSITIVE_INFINITY }));

vi.mock('node:fs/promises', async (importActual) => {
  const actual = await importActual<typeof import('node:fs/promises')>();
  const mortal =
    <A extends unknown[], R>(operation: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (life.operations-- <= 0) throw new Error('killed');
      return operation(...args);
    };
  const { rename, rm, mkdir, link, copyFile, open } = actual;
  const changed = { rename, rm, mkdir, link, copyFile, open };
  return {
    ...actual,
    ...Object.fromEntries(Object.entries(changed).map(([name, one]) => [name, mortal(one as () => Promise<unknown>)])),
  };
});

const PIPELINE = `version: 1
name: killed
secrets: [token]
steps: { make: { command: 'echo hello > /out/text', outputs: { text: /out }, secrets: [token] } }
`;
const SCOPE = { clusterID: 'main', accountID: 'physics' };
const KEY = randomBytes(32);
const DAY_MS = 86_400_000;
/** More than any request performs. */
const MANY = 200;

/** Its second step fails. */
const FAILING = `version: 1
name: failing
volumes: { data: { source: . } }
steps:
  make: { command: 'echo hello > /out/text', outputs: { text: /out }, inputs: { data: volumes.data } }
  use: { command: 'exit 1', inputs: { text: make.text } }
`;

const place = createHostedPlace();
let run: RecordedRun;
/** An ended run in the home of its account, and what its server replies. */
let ended: { readonly runId: string; readonly home: string; readonly instanceTypes: readonly InstanceType[] };
let homes = 0;

beforeAll(async () => {
  const server = await place.open();
  run = await recordRun(server, PIPELINE, { secrets: { token: 'secret-value' } });
  ended = await execute(server);
  await server.close();
});

async function execute(server: HostedServer): Promise<typeof ended> {
  const caller = createCaller(server);
  const baseDir = join(place.directory, 'pipeline');
  mkdirSync(baseDir);
  writeFileSync(join(baseDir, 'data.txt'), 'data');
  const failing = await recordRun(server, FAILING, { baseDir });
  await caller.send(failing);
  await caller.start(failing);
  await until(async () => (await caller.status(failing.runId)) === 'failed', 'the run to fail');
  const home = join(place.directory, 'data/hosted/main/physics');
  // The mark is removed last.
  await until(() => !isHosted(home, failing.runId), 'the end of the run to be recorded');
  const service = createHttpService({ baseUrl: server.url, token: server.tokens.member });
  const instanceTypes = await service.discovery.listInstanceTypes('main');
  await service.close();
  return { runId: failing.runId, home, instanceTypes };
}

afterAll(() => place.remove());

/** A server process with its own memory on a home. `stat` is what it does to check the workspace of a run that starts. */
function startServer(home: string, stat: () => Promise<unknown> = async () => ({})) {
  const taken: string[] = [];
  const files = () => ({ stat });
  const list = async function* () {
    for (const name of readdirSync(join(ended.home, 'credentials')))
      if (name.startsWith('ws-')) yield { id: name.replace('.json', ''), phase: 'Available' };
  };
  const discovery = { listInstanceTypes: async () => ended.instanceTypes };
  const secrets = createSecretStore({
    ...{ home, account: 'main/physics', log: () => {} },
    createKey: async () => KEY,
    readKey: () => KEY,
  });
  const handOver = createHandOver({
    ...{ home, scope: SCOPE, secrets, now: Date.now },
    service: { volumes: { files, list }, discovery } as never,
    host: { take: (runId) => void taken.push(runId), leave: async () => {} },
    findInodeShortage: async () => undefined,
    limits: {
      checkSteps: () => {},
      maxSteps: () => 100,
      findExcess: async () => undefined,
      checkRate: () => {},
      checkStorage: async () => {},
    },
  });
  const start = (of = run) => handOver.start(of.runId, { secrets: {}, logins: {}, ...of.start } as never);
  const send = async (of = run) => {
    for (const name of ['plan.json', 'journal.ndjson'] as const)
      await handOver.append(of.runId, { name, offset: 0, bytes: of.files[name] });
  };
  const removeOld = () =>
    removeOldRuns(90, {
      ...{ home, handOver, followers: openFollowers(home), log: () => {} },
      ...{ now: () => Date.now() + 91 * DAY_MS, closing: new AbortController().signal },
    });
  return { ...handOver, start, send, removeOld, taken, secrets };
}

function createHome(): string {
  const home = join(place.directory, `home-${homes++}`);
  mkdirSync(home);
  return home;
}

/** Kills a server at each of its file operations, until it performs the request without one that is too many. */
async function killEverywhere(
  prepare: () => Promise<string>,
  request: (server: ReturnType<typeof startServer>) => Promise<unknown>,
  check: (home: string) => Promise<void>,
): Promise<void> {
  for (let operations = 0; operations < MANY; operations++) {
    const home = await prepare();
    const server = startServer(home);
    life.operations = operations;
    const error = await request(server).then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    const wasKilled = life.operations < 0;
    life.operations = Number.POSITIVE_INFINITY;
    if (!wasKilled) expect(error).toBe(undefined);
    await check(home);
    if (!wasKilled) return;
  }
  throw new Error(`more than ${MANY} operations`);
}

const directoryOf = (home: string) => join(home, 'runs', run.runId);
const readJournal = (home: string) => readFileSync(join(directoryOf(home), 'journal.ndjson'));

/** A marked run is complete, whenever its process was killed. */
function expectComplete(home: string): void {
  if (!isHosted(home, run.runId)) return;
  expect(readdirSync(directoryOf(home))).toEqual(
    expect.arrayContaining(['plan.json', 'journal.ndjson', 'start.json', 'summary.json', 'secrets.sealed']),
  );
}

async function prepareSent(): Promise<string> {
  const home = createHome();
  await startServer(home).send();
  return home;
}

async function prepareStarted(): Promise<string> {
  const home = await prepareSent();
  await startServer(home).start();
  return home;
}

test('a server that is killed anywhere while it starts a run starts it once when the request is repeated', async () => {
  await killEverywhere(
    prepareSent,
    (server) => server.start(),
    async (home) => {
      expectComplete(home);
      const next = startServer(home);
      await next.start();
      expect(next.taken).toEqual([run.runId]);
      expect(isHosted(home, run.runId)).toBe(true);
      expect(readJournal(home).equals(run.files['journal.ndjson'])).toBe(true);
      expect(next.secrets.read(run.runId, 'token')).toBe('secret-value');
      expect(existsSync(join(home, 'staged', run.runId))).toBe(false);
    },
  );
});

test('a run whose start was interrupted anywhere can be released instead, and a delayed request starts nothing', async () => {
  await killEverywhere(
    prepareSent,
    (server) => server.start(),
    async (home) => {
      const next = startServer(home);
      const { journal } = await next.release(run.runId);
      expect(isHosted(home, run.runId)).toBe(false);
      if (journal !== undefined) expect(journal).toEqual(digestOf(run.files['journal.ndjson']));
      await expect(next.start()).rejects.toThrow(/could not start run/);
      expect(next.taken).toEqual([]);
    },
  );
});

test('a server that is killed anywhere while it releases a run resumes it never after its reply, and replies the same again', async () => {
  await killEverywhere(
    prepareStarted,
    (server) => server.release(run.runId),
    async (home) => {
      expectComplete(home);
      const reply = { runId: run.runId, status: 'suspended', journal: digestOf(run.files['journal.ndjson']) };
      expect(await startServer(home).release(run.runId)).toEqual(reply);
      expect(await startServer(home).release(run.runId)).toEqual(reply);
      expect(isHosted(home, run.runId)).toBe(false);
      expect(readdirSync(directoryOf(home)).filter((name) => name.startsWith('secrets'))).toEqual([]);
    },
  );
});

test('a released run that was continued elsewhere starts again, wherever a server was killed before', async () => {
  const more = { ...run, files: { ...run.files, 'journal.ndjson': continueJournal(run.files['journal.ndjson']) } };
  const continued = {
    ...more,
    start: { ...run.start, files: { ...run.start.files, 'journal.ndjson': digestOf(more.files['journal.ndjson']) } },
  };
  const released = await prepareStarted();
  await startServer(released).release(run.runId);
  await startServer(released).send(continued);
  const prepare = async () => {
    const home = createHome();
    cpSync(released, home, { recursive: true });
    return home;
  };
  await killEverywhere(
    prepare,
    (server) => server.start(continued),
    async (home) => {
      expectComplete(home);
      const next = startServer(home);
      await next.start(continued);
      expect(next.taken).toEqual([run.runId]);
      expect(isHosted(home, run.runId)).toBe(true);
      expect(readJournal(home).equals(continued.files['journal.ndjson'])).toBe(true);
      expect(next.secrets.read(run.runId, 'token')).toBe('secret-value');
    },
  );
  const other = createHome();
  cpSync(released, other, { recursive: true });
  writeFileSync(
    join(directoryOf(other), 'released.json'),
    JSON.stringify({ journal: { size: 5, sha256: 'a'.repeat(64) } }),
  );
  await expect(startServer(other).start(continued)).rejects.toThrow(/does not continue/);
});

/** As a process that opens the journal and leaves it. */
function continueJournal(bytes: Buffer): Buffer {
  const count = bytes.toString().trimEnd().split('\n').length;
  const record = { kind: 'opened', at: Date.now(), epoch: 2, host: 'client', pid: 1 } as const;
  return Buffer.concat([bytes, Buffer.from(encodeLine({ seq: count + 1, first: count + 1, epoch: 2, record }))]);
}

const RERUN = 'ccccccccccccc';

/** Copies what a server knows of an account whose run has ended. */
async function prepareEnded(): Promise<string> {
  const home = createHome();
  for (const name of ['runs', 'credentials']) cpSync(join(ended.home, name), join(home, name), { recursive: true });
  return home;
}

test('a server that is killed anywhere while it starts a rerun starts it once when the request is repeated', async () => {
  const request = { of: ended.runId, force: [] };
  await killEverywhere(
    prepareEnded,
    (server) => server.rerun(RERUN, request),
    async (home) => {
      const before = isHosted(home, RERUN) ? readFileSync(join(home, 'runs', RERUN, 'journal.ndjson')) : undefined;
      const next = startServer(home);
      expect(await next.rerun(RERUN, request)).toEqual({ ok: true, value: undefined });
      expect(await next.rerun(RERUN, request)).toEqual({ ok: true, value: undefined });
      expect(next.taken).toEqual([RERUN, RERUN]);
      expect(isHosted(home, RERUN)).toBe(true);
      expect(readdirSync(join(home, 'runs')).sort()).toEqual([ended.runId, RERUN].sort());
      const journal = readFileSync(join(home, 'runs', RERUN, 'journal.ndjson'));
      if (before !== undefined) expect(journal.equals(before)).toBe(true);
      expect(journal.toString()).toContain(`"rerunOf":"${ended.runId}"`);
      expect(existsSync(join(home, 'staged', RERUN))).toBe(false);
      const plan = (runId: string) => readFileSync(join(home, 'runs', runId, 'plan.json'), 'utf8');
      expect(plan(RERUN)).toBe(plan(ended.runId));
    },
  );
});

test('a rerun starts once for requests at once, nothing for another one with its ID, and never mixes with sent files', async () => {
  const home = await prepareEnded();
  const server = startServer(home);
  const request = { of: ended.runId, force: ['make'] };
  await server.append(RERUN, { name: 'journal.ndjson', offset: 0, bytes: Buffer.from('nonsense\n') });
  const put = server.append(RERUN, { name: 'plan.json', offset: 0, bytes: Buffer.from('{}') });
  const results = await Promise.all([1, 2, 3].map(() => server.rerun(RERUN, request)));
  await put;
  expect(results.every(({ ok }) => ok)).toBe(true);
  const journals = () => readFileSync(join(home, 'runs', RERUN, 'journal.ndjson'), 'utf8');
  expect(journals()).not.toContain('nonsense');
  await expect(server.rerun(RERUN, { of: ended.runId })).rejects.toMatchObject({ reason: 'RUN_EXISTS' });
  await server.release(RERUN);
  expect(await server.rerun(RERUN, request)).toMatchObject({ ok: true });
  expect(isHosted(home, RERUN)).toBe(false);
});

/** Long before files that were received are removed. */
function makeOld(...paths: readonly string[]): void {
  const old = new Date(Date.now() - 2 * 86_400_000);
  for (const path of paths) utimesSync(path, old, old);
}

const OTHER = 'ddddddddddddd';

test('old received files are removed, but not while their run is being started or while more is received', async () => {
  const home = await prepareSent();
  const staged = join(home, 'staged', run.runId);
  const paths = [staged, join(staged, 'plan.json'), join(staged, 'journal.ndjson')];
  const sendOther = () => server.append(OTHER, { name: 'plan.json', offset: 0, bytes: Buffer.from('{}') });
  const server = startServer(home, sendOther);
  makeOld(...paths);
  await server.start();
  expect(server.taken).toEqual([run.runId]);
  expectComplete(home);

  const receiving = join(home, 'staged', OTHER);
  makeOld(receiving);
  await server.send();
  expect(existsSync(receiving)).toBe(true);
  makeOld(receiving, join(receiving, 'plan.json'));
  await server.release(run.runId);
  await server.send();
  expect(existsSync(receiving)).toBe(false);
});

const sentAgain = () => recordFiles(join(ended.home, 'runs', ended.runId));

/** The files of an ended run, as if a delayed request sent them again. */
function recordFiles(directory: string): RecordedRun {
  const read = (name: string) => readFileSync(join(directory, name));
  const files = { 'plan.json': read('plan.json'), 'journal.ndjson': read('journal.ndjson') };
  return { ...run, runId: ended.runId, files };
}

test('a server that is killed anywhere while it removes an old run has all of it or none, and removes the rest later', async () => {
  const before = readdirSync(join(ended.home, 'runs', ended.runId)).sort();
  await killEverywhere(
    prepareEnded,
    (server) => server.removeOld(),
    async (home) => {
      const directory = join(home, 'runs', ended.runId);
      if (existsSync(directory)) {
        const names = readdirSync(directory).filter((name) => name !== '.lock');
        expect(names.sort()).toEqual(before);
      } else await expect(startServer(home).release(ended.runId)).rejects.toMatchObject({ reason: 'RUN_REMOVED' });
      const next = startServer(home);
      await next.removeOld();
      await next.removeOld();
      expect(readdirSync(join(home, 'runs'))).toEqual([]);
      expect(readdirSync(join(home, 'removed', ended.runId))).toEqual(['summary.json']);
      expect(readdirSync(join(home, 'credentials'))).toEqual(readdirSync(join(ended.home, 'credentials')));
      const sent = sentAgain();
      for (const request of [() => next.release(ended.runId), () => next.send(sent), () => next.start(sent)])
        await expect(request()).rejects.toMatchObject({
          status: 404,
          reason: 'RUN_REMOVED',
          details: { status: 'failed' },
        });
      expect(next.taken).toEqual([]);
    },
  );
});

test('a run is not removed while it is being rerun, and not rerun after it was removed', async () => {
  const home = await prepareEnded();
  const server = startServer(home);
  const rerun = () => server.act(ended.runId, () => server.rerun(RERUN, { of: ended.runId, force: [] }));
  const [reply] = await Promise.all([rerun(), server.removeOld()]);
  expect(reply).toEqual({ ok: true, value: undefined });
  expect(readdirSync(join(home, 'runs')).sort()).toEqual([ended.runId, RERUN].sort());
  const other = await prepareEnded();
  const later = startServer(other);
  const removed = later.removeOld();
  await later.exclude(ended.runId, async () => {});
  await removed;
  expect(await later.act(ended.runId, () => later.rerun(RERUN, { of: ended.runId, force: [] }))).toMatchObject({
    ...{ ok: false, error: { code: 'RUN_NOT_FOUND' } },
  });
  expect(readdirSync(join(other, 'runs'))).toEqual([]);
});

test('requests at once about one run start it once', async () => {
  const home = await prepareSent();
  const server = startServer(home);
  await Promise.all([server.start(), server.start(), server.start()]);
  expect(server.taken).toEqual([run.runId, run.runId, run.runId]);
  const results = await Promise.allSettled([server.release(run.runId), server.start(), server.release(run.runId)]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(isHosted(home, run.runId)).toBe(false);
});

test('parts of a file may be sent again, and other bytes at the same place start it over', async () => {
  const home = createHome();
  const server = startServer(home);
  const bytes = run.files['plan.json'];
  const put = (offset: number, part: Uint8Array) =>
    server.append(run.runId, { name: 'plan.json', offset, bytes: part });
  await put(0, bytes.subarray(0, 10));
  await put(5, bytes.subarray(5, 20));
  await put(0, bytes.subarray(0, 3));
  expect(await server.staged(run.runId)).toEqual({ files: { 'plan.json': 20, 'journal.ndjson': 0 } });
  await expect(put(21, bytes.subarray(21))).rejects.toMatchObject({ status: 409, reason: 'OFFSET_INVALID' });
  await expect(put(0, Buffer.from('other'))).rejects.toMatchObject({ status: 409, reason: 'FILES_DIFFER' });
  expect(await server.staged(run.runId)).toEqual({ files: { 'plan.json': 0, 'journal.ndjson': 0 } });
  await expect(server.start()).rejects.toMatchObject({ status: 409, reason: 'FILES_MISSING' });
});
