import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceError } from '@sluice/client';
import { createPlan, parsePipeline } from '@sluice/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { handOverRun } from '../../packages/cli/src/remote/hand-over-run.ts';
import { updateMirror } from '../../packages/cli/src/remote/mirror-run.ts';
import { takeBackRun } from '../../packages/cli/src/remote/take-back-run.ts';
import { createSystemClock } from '../../packages/home/src/clock.ts';
import { decodeLine, encodeLine } from '../../packages/home/src/journal/line-codec.ts';
import { openJournal } from '../../packages/home/src/journal/open-journal.ts';
import { createSystemDisk } from '../../packages/home/src/journal/system-disk.ts';
import { serializePlan } from '../../packages/home/src/runs/run-home.ts';
import type { JournalLine } from '../../packages/run/src/records/journal-line.ts';
import { FakeRunServer, Killed } from './fake-run-server.ts';

const RUN = 'aaaaaaaaaaaaa';
const PIPELINE = 'version: 1\nname: p\nsecrets: [TOKEN]\nsteps:\n  a: { command: [x] }\n';
let home: string;
let directory: string;
let server: FakeRunServer;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hand-over-'));
  directory = join(home, 'runs', RUN);
  mkdirSync(directory, { recursive: true });
  const parsed = parsePipeline({ file: 'p.yaml', text: PIPELINE });
  const plan = parsed.ok ? createPlan(parsed.value.pipeline, { params: {} }) : parsed;
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  writeFileSync(join(directory, 'plan.json'), serializePlan(plan.value));
  writeFileSync(join(directory, 'journal.ndjson'), line(1, 1));
  server = new FakeRunServer();
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

function line(seq: number, epoch: number): string {
  const header = { kind: 'run', runId: RUN, pipeline: 'p', format: 2, at: 1, scheduler: {} };
  const record = seq === 1 ? header : { kind: 'warning', at: seq, message: `line ${seq}` };
  return encodeLine({ seq, first: 1, epoch, record } as unknown as JournalLine);
}

const readLines = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((one) => decodeLine(Buffer.from(one))!);
const readJournal = () => readFileSync(join(directory, 'journal.ndjson'), 'utf8');
const secrets = (name: string) => `value of ${name}`;
const handOver = () => handOverRun({ home, runId: RUN, server, secrets });
/** Why the copy must not be continued, if the server has lost the run. */
let copyFault: string | undefined;
const takeBack = () => takeBackRun({ home, runId: RUN, server, findCopyFault: async () => copyFault });

/** The server had executed the run to its end, and has removed it since. */
const removed = async () => {
  const details = { status: 'failed', endedAt: '2030-01-02T00:00:00.000Z' };
  throw new ServiceError('NOT_FOUND', 'it was removed', { status: 404, reason: 'RUN_REMOVED', details });
};

/** What a process that executes the run does first. Returns whether it may. */
async function executeHere(): Promise<boolean> {
  const opened = await openJournal(directory, {
    ...{ disk: createSystemDisk(), clock: createSystemClock() },
    refuse: () => undefined,
  });
  if (!opened.ok) expect(opened.error.code).toBe('RUN_HOSTED');
  else await opened.value.release();
  return opened.ok;
}

/** The server writes a record, if it executes the run. */
function executeThere(): void {
  if (!server.isExecuting) return;
  const { seq, epoch } = readLines(Buffer.from(server.journal!).toString()).at(-1)!;
  server.append(line(seq + 1, epoch + 1));
}

async function isKilled(command: Promise<unknown>): Promise<boolean> {
  try {
    await command;
    return false;
  } catch (error) {
    if (error instanceof Killed) return true;
    throw error;
  }
}

/** Kills the command at each of its requests, before and after the effect, until it is no longer reached. */
async function killEverywhere(
  prepare: () => Promise<void>,
  command: () => Promise<unknown>,
  check: () => Promise<void>,
): Promise<number> {
  let kills = 0;
  for (let call = 0; ; call++) {
    for (const when of ['before', 'after'] as const) {
      const journal = readFileSync(join(directory, 'journal.ndjson'));
      await prepare();
      server.killAt = { call: server.calls.length + call, when };
      const wasKilled = await isKilled(command());
      server.killAt = undefined;
      if (!wasKilled) return kills;
      kills++;
      await check();
      rmSync(join(directory, 'server.json'), { force: true });
      writeFileSync(join(directory, 'journal.ndjson'), journal);
      server = new FakeRunServer();
    }
  }
}

describe('handOverRun', () => {
  test('has the server execute the run, and no process of this home', async () => {
    expect(await handOver()).toEqual({ ok: true, value: 'https://server.example/run' });
    expect(server.isExecuting).toBe(true);
    expect(Buffer.from(server.journal!).toString()).toBe(readJournal());
    expect(await executeHere()).toBe(false);
    expect(await handOver()).toMatchObject({ ok: true });
    expect(server.calls).toEqual(['staged', 'put', 'put', 'start']);
  });

  test('killed at any request, it can be repeated, and the run is executed once', async () => {
    const kills = await killEverywhere(
      async () => {},
      handOver,
      async () => {
        expect(await executeHere()).toBe(false);
        executeThere();
        expect(await handOver()).toMatchObject({ ok: true });
        expect(server.isExecuting).toBe(true);
        expect(await executeHere()).toBe(false);
      },
    );
    expect(kills).toBe(8);
  });

  test('killed at any request, the run can be taken back with everything that the server did', async () => {
    const kills = await killEverywhere(
      async () => {},
      handOver,
      async () => {
        const wasStarted = server.isExecuting;
        executeThere();
        expect(await takeBack()).toMatchObject({ ok: true });
        expect(server.isExecuting).toBe(false);
        expect(readJournal().includes('line 2')).toBe(wasStarted);
        expect(await executeHere()).toBe(true);
      },
    );
    expect(kills).toBe(8);
  });

  test('a request of a killed command that arrives after the run was taken back starts nothing', async () => {
    server.killAt = { call: 3, when: 'before' };
    let late: Parameters<FakeRunServer['accept']>[0] | undefined;
    const { start } = server;
    server.start = (runId, request) => {
      late = request.files;
      return start.call(server, runId, request);
    };
    expect(await isKilled(handOver())).toBe(true);
    server.killAt = undefined;
    await takeBack();
    expect(() => server.accept(late!)).toThrow('missing files');
    expect(await executeHere()).toBe(true);
    expect(() => server.accept(late!)).toThrow('missing files');
  });

  test('a run that the server refuses can be resumed here, and handed over later', async () => {
    server.refusal = new ServiceError('RESOURCE_EXHAUSTED', 'too many runs');
    expect(await handOver()).toEqual({ ok: false, error: { message: 'too many runs', isHere: true } });
    expect(existsSync(join(directory, 'server.json'))).toBe(false);
    expect(await executeHere()).toBe(true);
    server.refusal = undefined;
    expect(await handOver()).toMatchObject({ ok: true });
  });

  test('without an answer it is unknown which one executes the run, so this home does not', async () => {
    server.refusal = new ServiceError('NO_REPLY', 'no reply');
    expect(await handOver()).toEqual({ ok: false, error: { message: 'no reply', isHere: false } });
    expect(await executeHere()).toBe(false);
  });

  test('a missing secret is an error before anything is sent', async () => {
    const refused = await handOverRun({ home, runId: RUN, server, secrets: () => undefined });
    expect(refused).toEqual({ ok: false, error: { message: 'the secret TOKEN is not set', isHere: true } });
    expect(server.calls).toEqual([]);
    expect(await executeHere()).toBe(true);
  });
});

describe('takeBackRun', () => {
  test('killed at any request, it can be repeated, and no record is lost', async () => {
    const kills = await killEverywhere(
      async () => {
        await handOver();
        executeThere();
      },
      takeBack,
      async () => {
        expect(await executeHere()).toBe(false);
        executeThere();
        expect(await takeBack()).toMatchObject({ ok: true });
        expect(server.isExecuting).toBe(false);
        expect(readJournal()).toBe(Buffer.from(server.journal!).toString());
        expect(await executeHere()).toBe(true);
      },
    );
    expect(kills).toBe(6);
  });

  test('a run changes hands repeatedly', async () => {
    for (let round = 0; round < 3; round++) {
      expect(await handOver()).toMatchObject({ ok: true });
      expect(await executeHere()).toBe(false);
      executeThere();
      expect(await takeBack()).toMatchObject({ ok: true });
      expect(await executeHere()).toBe(true);
    }
    expect(readLines(readJournal()).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  test('a run that has ended on its server is not executed here, and its outputs can still be published', async () => {
    await handOver();
    executeThere();
    const { seq, epoch } = readLines(Buffer.from(server.journal!).toString()).at(-1)!;
    const record = { kind: 'finished', at: 9, status: 'succeeded' };
    server.append(encodeLine({ seq: seq + 1, first: 1, epoch, record } as unknown as JournalLine));
    expect(await takeBack()).toMatchObject({ ok: true });
    expect(JSON.parse(readFileSync(join(directory, 'server.json'), 'utf8'))).toMatchObject({ state: 'hosted' });
    expect(await executeHere()).toBe(false);
    expect(await takeBack()).toMatchObject({ ok: true });
  });

  test('a run that its server has lost is executed here only if that starts nothing twice', async () => {
    await handOver();
    server = new FakeRunServer();
    copyFault = 'it could start twice';
    const error = expect.stringMatching(/does not have the run that it had started: .*; it could start twice$/);
    expect(await takeBack()).toEqual({ ok: false, error });
    expect(await executeHere()).toBe(false);
    copyFault = undefined;
    expect(await takeBack()).toMatchObject({ ok: true });
    expect(await executeHere()).toBe(true);
  });

  test('a copy that another home has started stays with its server', async () => {
    await handOver();
    const mark = JSON.parse(readFileSync(join(directory, 'server.json'), 'utf8'));
    writeFileSync(join(directory, 'server.json'), JSON.stringify({ ...mark, isOurs: false }));
    expect(await takeBack()).toMatchObject({ ok: false });
    expect(server.isExecuting).toBe(true);
  });
});

test('updateMirror copies what the server does until the run is taken back', async () => {
  await handOver();
  executeThere();
  expect(await updateMirror({ home, runId: RUN, server })).toMatchObject({ ok: true });
  expect(readJournal()).toContain('line 2');
  await takeBack();
  const calls = server.calls.length;
  await updateMirror({ home, runId: RUN, server });
  expect(server.calls).toHaveLength(calls);
});

describe('a run that the server has removed after its end', () => {
  const readSummary = () => JSON.parse(readFileSync(join(directory, 'summary.json'), 'utf8'));
  const ended = { pipeline: 'p', startedAt: 1, status: 'failed', endedAt: Date.parse('2030-01-02') };

  beforeEach(() => writeFileSync(join(directory, 'summary.json'), JSON.stringify({ pipeline: 'p', startedAt: 1 })));

  test('is not started again by a repeated hand-over, and not executed here', async () => {
    writeMark('handing-over');
    const other = {
      url: server.url,
      scope: server.scope,
      staged: removed,
      put: removed,
      start: removed,
      release: removed,
    };
    const handed = await handOverRun({ home, runId: RUN, server: other, secrets });
    expect(handed).toEqual({ ok: false, error: { message: 'it was removed', isHere: false, hasEnded: true } });
    expect(readSummary()).toEqual(ended);
    expect(await executeHere()).toBe(false);
  });

  test('is not taken back, and its copy counts as ended', async () => {
    writeMark('hosted');
    const gone = { release: removed, readJournal: removed };
    expect(await takeBackRun({ home, runId: RUN, server: gone, findCopyFault: async () => undefined })).toEqual({
      ok: false,
      error: 'it was removed',
    });
    expect(readSummary()).toEqual(ended);
    expect(await executeHere()).toBe(false);
  });

  test('counts as ended as soon as its copy is to be brought up to date', async () => {
    writeMark('hosted');
    await expect(
      updateMirror({ home, runId: RUN, server: { readPlan: removed, readJournal: removed, isReleased: removed } }),
    ).rejects.toThrow('it was removed');
    expect(readSummary()).toEqual(ended);
  });

  function writeMark(state: string): void {
    const mark = { service: server.url, cluster: 'main', account: 'physics', state, isOurs: true };
    writeFileSync(join(directory, 'server.json'), JSON.stringify(mark));
  }
});
