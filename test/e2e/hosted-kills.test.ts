import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHttpService, type InstanceType } from '@sluice/client';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { isHosted } from '../../packages/home/src/runs/hosted-runs.ts';
import { removeStaged } from '../../packages/host/src/hosted/add-run.ts';
import { createOrders } from '../../packages/host/src/hosted/create-orders.ts';
import { planOrder } from '../../packages/host/src/hosted/plan-order.ts';
import { removeOldRuns } from '../../packages/host/src/hosted/remove-old-runs.ts';
import { createSecretStore } from '../../packages/host/src/hosted/secret-store.ts';
import { openFollowers } from '../../packages/host/src/runs/open-followers.ts';
import { orderBody } from '../../packages/host/src/schemas/order.ts';
import { createCaller, createHostedPlace, type HostedServer, type PreparedOrder, prepareOrder } from './hosted-rig.ts';
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
let run: PreparedOrder;
/** An ended run in the home of its account, and what its server replies. */
let ended: { readonly runId: string; readonly home: string; readonly instanceTypes: readonly InstanceType[] };
/** Of all runs. */
let workspaces: readonly string[];
let homes = 0;

beforeAll(async () => {
  const server = await place.open();
  run = await prepareOrder(server, PIPELINE, { secrets: { token: 'secret-value' } });
  ended = await execute(server);
  await server.close();
});

async function execute(server: HostedServer): Promise<typeof ended> {
  const caller = createCaller(server);
  const baseDir = join(place.directory, 'pipeline');
  mkdirSync(baseDir);
  writeFileSync(join(baseDir, 'data.txt'), 'data');
  const failing = await prepareOrder(server, FAILING, { baseDir });
  workspaces = [run.workspaceId, failing.workspaceId];
  await caller.order(failing);
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

/** A server process with its own memory on a home. */
function startServer(home: string) {
  const taken: string[] = [];
  const files = () => ({ stat: async () => ({}), makeDirectory: async () => {} });
  const list = async function* () {
    for (const id of workspaces) yield { id, phase: 'Available' };
  };
  const discovery = { listInstanceTypes: async () => ended.instanceTypes };
  const secrets = createSecretStore({
    ...{ home, account: 'main/physics', log: () => {} },
    createKey: async () => KEY,
    readKey: () => KEY,
  });
  const orders = createOrders({
    ...{ home, scope: SCOPE, secrets },
    service: { volumes: { files, list }, discovery } as never,
    host: { take: (runId) => void taken.push(runId) },
    findInodeShortage: async () => undefined,
    planOrder: async (order) => planOrder(order),
    limits: {
      checkSteps: () => {},
      maxSteps: () => 100,
      findExcess: async () => undefined,
      checkRate: () => {},
      checkStorage: async () => {},
    },
  });
  const order = (of = run) => orders.order(of.runId, orderBody.parse(of.body));
  const removeOld = () =>
    removeOldRuns(90, {
      ...{ home, orders, followers: openFollowers(home), log: () => {} },
      ...{ now: () => Date.now() + 91 * DAY_MS, closing: new AbortController().signal },
    });
  return { ...orders, order, removeOld, taken, secrets };
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

test('a server that is killed anywhere while it starts a run starts it once when the order is repeated', async () => {
  await killEverywhere(
    async () => createHome(),
    (server) => server.order(),
    async (home) => {
      expectComplete(home);
      const before = isHosted(home, run.runId) ? readJournal(home) : undefined;
      const next = startServer(home);
      await removeStaged(home);
      await next.order();
      await next.order();
      expect(next.taken).toEqual([run.runId, run.runId]);
      expect(isHosted(home, run.runId)).toBe(true);
      if (before !== undefined) expect(readJournal(home).equals(before)).toBe(true);
      expect(next.secrets.read(run.runId, 'token')).toBe('secret-value');
      expect(existsSync(join(home, 'staged', run.runId))).toBe(false);
    },
  );
});

const RERUN = 'ccccccccccccc';

/** Copies what a server knows of an account whose run has ended. */
async function prepareEnded(): Promise<string> {
  const home = createHome();
  for (const name of ['runs', 'credentials']) cpSync(join(ended.home, name), join(home, name), { recursive: true });
  return home;
}

test('a server that is killed anywhere while it starts a rerun starts it once when the request is repeated', async () => {
  const request = { of: ended.runId, from: [] };
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

test('a rerun starts once for requests at once, and nothing for another one with its ID', async () => {
  const home = await prepareEnded();
  const server = startServer(home);
  const request = { of: ended.runId, from: ['make'] };
  const results = await Promise.all([1, 2, 3].map(() => server.rerun(RERUN, request)));
  expect(results.every(({ ok }) => ok)).toBe(true);
  await expect(server.rerun(RERUN, { of: ended.runId })).rejects.toMatchObject({ reason: 'RUN_EXISTS' });
  await expect(server.order({ ...run, runId: RERUN })).rejects.toMatchObject({ reason: 'RUN_EXISTS' });
});

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
      } else
        await expect(startServer(home).order({ ...run, runId: ended.runId })).rejects.toMatchObject({
          reason: 'RUN_REMOVED',
        });
      const next = startServer(home);
      await next.removeOld();
      await next.removeOld();
      expect(readdirSync(join(home, 'runs'))).toEqual([]);
      expect(readdirSync(join(home, 'removed', ended.runId))).toEqual(['summary.json']);
      expect(readdirSync(join(home, 'credentials'))).toEqual(readdirSync(join(ended.home, 'credentials')));
      await expect(next.order({ ...run, runId: ended.runId })).rejects.toMatchObject({
        ...{ status: 404, reason: 'RUN_REMOVED', details: { status: 'failed' } },
      });
      expect(next.taken).toEqual([]);
    },
  );
});

test('a run is not removed while it is being rerun, and not rerun after it was removed', async () => {
  const home = await prepareEnded();
  const server = startServer(home);
  const rerun = () => server.exclude(ended.runId, () => server.rerun(RERUN, { of: ended.runId, from: [] }));
  const [reply] = await Promise.all([rerun(), server.removeOld()]);
  expect(reply).toEqual({ ok: true, value: undefined });
  expect(readdirSync(join(home, 'runs')).sort()).toEqual([ended.runId, RERUN].sort());
  const other = await prepareEnded();
  const later = startServer(other);
  const removed = later.removeOld();
  await later.exclude(ended.runId, async () => {});
  await removed;
  expect(await later.exclude(ended.runId, () => later.rerun(RERUN, { of: ended.runId, from: [] }))).toMatchObject({
    ...{ ok: false, error: { code: 'RUN_NOT_FOUND' } },
  });
  expect(readdirSync(join(other, 'runs'))).toEqual([]);
});

test('orders at once with one ID start it once, and another order with its ID is rejected', async () => {
  const home = createHome();
  const server = startServer(home);
  await Promise.all([server.order(), server.order(), server.order()]);
  expect(server.taken).toEqual([run.runId, run.runId, run.runId]);
  const other = { ...run, body: { ...run.body, order: { ...run.body.order, parallelism: 2 } } };
  await expect(server.order(other)).rejects.toMatchObject({ status: 409, reason: 'RUN_EXISTS' });
  expect(readdirSync(join(home, 'runs'))).toEqual([run.runId]);
});
