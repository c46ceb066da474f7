import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommandLine } from '../../src/command-line/run-command-line.ts';
import { EVENT_VALUES } from '../../src/json/event-values.ts';
import type { TestContext } from '../recording-terminal.ts';
import { createPrinter } from './printed-values.ts';

const DAY_MS = 86_400_000;
const NIGHTLY = `
version: 1
name: nightly
schedule: { cron: "30 2 * * *", catchup: latest }
steps: { a: { command: ["true"] } }
`;
const FILES = {
  'nightly.yaml': NIGHTLY,
  'hourly.yaml': NIGHTLY.replace('30 2 * * *', '0 * * * *'),
  'eventful.yaml': `
version: 1
name: eventful
volumes: { data: { source: ./data } }
steps:
  list: { command: 'echo "[1, 2]" > /sluice/results/items', results: { items: array } }
  each: { foreach: "\${{ steps.list.results.items }}", command: 'true', inputs: { data: volumes.data } }
  empty: { command: 'true', outputs: { none: /out/none } }
  fails: { command: 'echo the end; exit 3', retry: { limit: 1 }, continueOnError: true }
`,
  'asks.yaml': `
version: 1
name: asks
steps:
  make: { command: 'true' }
  ask: { needs: make, approval: { message: "go on?" } }
`,
  'held.yaml': `
version: 1
name: held
schedule: { cron: "0 0 * * *" }
secrets: [token]
steps:
  wait: { command: [sh, -c, "touch /out/begun; sleep 1000"], outputs: { o: /out }, secrets: [token] }
`,
};
const SECRET = { SLUICE_SECRET_token: 'open sesame' };

let cwd: string;
let printer: ReturnType<typeof createPrinter>;

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'sluice-events-'));
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(cwd, name), text);
  printer = createPrinter(cwd);
});

afterAll(() => rmSync(cwd, { recursive: true, force: true, maxRetries: 10 }));

interface Started {
  readonly context: TestContext;
  readonly ended: Promise<number>;
  /** Waits for a text in the output, sends SIGTERM, and resolves to everything printed. */
  stopAfter(text: string): Promise<readonly Record<string, unknown>[]>;
}

function start(args: readonly string[], env: NodeJS.ProcessEnv = {}): Started {
  const context = printer.createContext(env);
  const ended = runCommandLine([...args, '--json'], context);
  return {
    context,
    ended,
    stopAfter: async (text) => {
      await expect.poll(() => context.terminal.written().out).toContain(text);
      context.send('SIGTERM');
      await ended;
      return printer.check(context);
    },
  };
}

/** The values of a command that succeeds. */
async function print(...args: readonly string[]) {
  const { exitCode, values, stderr } = await printer.print(args);
  expect(exitCode, `${args.join(' ')}: ${stderr}`).toBe(0);
  return values;
}

const typesOf = (values: readonly Record<string, unknown>[]) => values.map(({ type }) => type);

/** One process numbers all its events. */
function expectNumbers(values: readonly Record<string, unknown>[]): void {
  expect(values.map(({ seq }) => seq)).toEqual(values.map((_, index) => index + 1));
}

test('run prints what happens, from an upload to the report', async () => {
  mkdirSync(join(cwd, 'data'));
  writeFileSync(join(cwd, 'data/file'), 'text');
  const { exitCode, values } = await printer.print(['run', 'eventful.yaml', '--cpu', '2']);
  expect(exitCode).toBe(0);
  expectNumbers(values);
  const { runId } = values[0]!;
  expect(new Set(values.map((value) => value.runId))).toEqual(new Set([runId]));
  expect(values[0]).toMatchObject({ schema: 1, type: 'transfer', direction: 'upload', name: 'data' });
  expect(values.filter(({ type }) => type === 'stepExpanded')).toMatchObject([{ step: 'each', cells: ['1', '2'] }]);
  expect(values.find(({ type, status }) => type === 'cellChanged' && status === 'failed')).toMatchObject({
    ...{ step: 'fails', cell: '', reason: 'failed', attempt: 2, message: 'exit code 3' },
  });
  const failure = { step: 'fails', cell: '', status: 'failed', reason: 'failed', exitCode: 3, logTail: ['the end'] };
  expect(values.filter(({ type }) => type === 'attemptFailed')).toMatchObject([
    { ...failure, attempt: 1 },
    { ...failure, attempt: 2 },
  ]);
  const types = new Set(typesOf(values));
  for (const type of ['runStarted', 'containerState', 'warning']) expect(types).toContain(type);
  const shown = await print('show', String(runId));
  const { schema: _schema, type: _type, ...report } = shown[0]!;
  expect(values.at(-1)).toMatchObject({ type: 'runFinished', runId, report });
});

test('run and resume print an approval and reused cells', async () => {
  const first = await printer.print(['run', 'asks.yaml', '--stop-at-approval']);
  expect(first.exitCode).toBe(75);
  expect(first.values.find(({ type }) => type === 'approvalAsked')).toMatchObject({ step: 'ask', message: 'go on?' });
  await print('approve', 'ask');
  const resumed = await print('resume');
  expectNumbers(resumed);
  expect(resumed[0]).toMatchObject({ type: 'runStarted', runId: first.values[0]!.runId, resumed: true });
  const before = resumed.find(({ type, step }) => type === 'cellChanged' && step === 'make');
  expect(before).toMatchObject({ status: 'succeeded', attempt: 1 });
  const second = await printer.print(['run', 'asks.yaml', '--reuse', '--stop-at-approval']);
  const reused = second.values.filter((value) => value.reused === true);
  const from = { reusedFrom: first.values[0]!.runId };
  expect(reused).toMatchObject([{ type: 'cellChanged', step: 'make', status: 'succeeded', ...from }]);
});

test('schedule backfill prints each run, and the times that ran before', async () => {
  const backfill = ['schedule', 'backfill', '2025-01-01..2025-01-02', 'nightly.yaml'];
  const values = await print(...backfill);
  expectNumbers(values);
  expect(values).toMatchObject([
    { type: 'scheduledRunStarted', schedule: 'nightly', plannedAt: '2025-01-01T02:30:00.000Z' },
    { type: 'scheduledRunFinished', runId: values[0]!.runId, status: 'succeeded' },
    { type: 'scheduledRunStarted', plannedAt: '2025-01-02T02:30:00.000Z' },
    { type: 'scheduledRunFinished', status: 'succeeded' },
  ]);
  expect(typesOf(await print(...backfill))).toEqual(['plannedTimeSkipped', 'plannedTimeSkipped']);
});

test('schedule run prints missed times, changed times, a pause, and another process in the way', async () => {
  await print('schedule', 'run', '--once', 'nightly.yaml');
  const file = join(cwd, '.sluice/schedules/nightly/watched.json');
  const watched = JSON.parse(readFileSync(file, 'utf8')) as { since: number };
  writeFileSync(file, JSON.stringify({ ...watched, since: watched.since - 3 * DAY_MS }));
  const [missed] = await print('schedule', 'run', '--once', 'nightly.yaml');
  expect(missed).toMatchObject({ type: 'plannedTimesMissed', seq: 1, firstAt: expect.stringMatching(/T02:30:00/) });

  const nightly = start(['schedule', 'run', 'nightly.yaml']);
  await expect.poll(() => nightly.context.terminal.written().out).toContain('scheduleWatched');
  const hourly = await start(['schedule', 'run', 'hourly.yaml']).stopAfter('scheduleBlocked');
  expect(typesOf(hourly)).toEqual(['scheduleWatched', 'scheduleBlocked']);
  expectNumbers(hourly);
  expect(typesOf(await nightly.stopAfter('scheduleWatched'))).toEqual(['scheduleWatched']);

  expect(typesOf(await print('schedule', 'run', '--once', 'hourly.yaml'))).toEqual(['scheduleChanged']);
  await print('schedule', 'pause', 'nightly');
  expect(typesOf(await print('schedule', 'run', '--once', 'hourly.yaml'))).toEqual(['schedulePaused']);
});

test('schedule backfill prints a run that it leaves, cannot resume, and resumes', async () => {
  const backfill = ['schedule', 'backfill', '2025-01-01..2025-01-01', 'held.yaml'];
  const first = start(backfill, SECRET);
  const files = () => readdirSync(join(cwd, '.sluice/service'), { recursive: true, encoding: 'utf8' });
  await expect.poll(() => files().some((path) => path.endsWith('/begun'))).toBe(true);
  expect(typesOf(await first.stopAfter(''))).toEqual(['scheduledRunStarted', 'scheduledRunSuspended']);
  const [postponed] = await start(backfill).stopAfter('\n');
  expect(postponed).toMatchObject({ type: 'plannedTimePostponed', message: expect.stringContaining('token') });
  const resumed = await start(backfill, SECRET).stopAfter('\n');
  expect(typesOf(resumed)).toEqual(['scheduledRunResumed', 'scheduledRunSuspended']);
  const { runId } = resumed[0] as { runId: string };
  expect(await printer.print(['cancel', runId], SECRET)).toMatchObject({ exitCode: 0 });
});

test('logs prints the lines of a log', async () => {
  const file = `
version: 1
name: lines
steps: { say: { command: [sh, -c, "echo one; echo two; printf three"], matrix: { n: [1] } } }
`;
  writeFileSync(join(cwd, 'lines.yaml'), file);
  expect(await start(['run', 'lines.yaml']).ended).toBe(0);
  const line = { schema: 1, type: 'logLine', runId: expect.any(String), step: 'say', cell: 'n-1', attempt: 1 };
  const lines = ['one', 'two', 'three'].map((text) => ({ ...line, text }));
  expect(await print('logs', 'say/n-1')).toEqual(lines);
  expect(await print('logs', '-f', 'say')).toEqual(lines);
  expect(await print('logs', '--tail', '1', 'say')).toEqual(lines.slice(2));
});

// Last: the tests before print one value of each type at least.
test('each type is printed by a command of this file', () => {
  expect(Object.keys(EVENT_VALUES).filter((type) => !printer.seen.has(type as never))).toEqual([]);
});
