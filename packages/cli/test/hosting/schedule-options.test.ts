import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRunOrder, readScheduleSettings, recordScheduleSettings, requestBackfill } from '@sluice/home';
import { createHostMetrics } from '@sluice/host';
import { orderWords } from '@sluice/run';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCommandLine } from '../../src/command-line/run-command-line.ts';
import { createRunExecutor } from '../../src/hosting/create-run-executor.ts';
import { runHomeSchedules } from '../../src/hosting/run-home-schedules.ts';
import { createPrinter } from '../json/printed-values.ts';

const TIMEOUT = { timeout: 300_000 };
const DAY = '2025-01-01..2025-01-01';
const TIME = Date.UTC(2025, 0, 1, 2, 30);

const FILE = `
version: 1
name: nightly
schedule: { cron: "30 2 * * *" }
params: { target: file, other: none }
steps:
  show: { command: [echo, "\${{ params.target }} \${{ params.other }}"] }
`;

let cwd: string;
let home: string;
let printer: ReturnType<typeof createPrinter>;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'sluice-settings-'));
  home = join(cwd, '.sluice');
  printer = createPrinter(cwd);
  writeFileSync(join(cwd, 'nightly.yaml'), FILE);
});

afterEach(() => rmSync(cwd, { recursive: true, force: true, maxRetries: 10 }));

/** What a command prints as text. */
async function say(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const context = printer.createContext(env);
  const exitCode = await runCommandLine(args, context);
  return { exitCode, ...context.terminal.written() };
}

const once = (...args: string[]) => say(['schedule', 'run', '--once', 'nightly.yaml', ...args]);
const backfill = (...args: string[]) => say(['schedule', 'backfill', DAY, 'nightly.yaml', ...args]);
const settings = () => readScheduleSettings({ home, name: 'nightly' });

/** The parameters of the runs of the home, newest first. */
async function listParams(): Promise<unknown[]> {
  const { values } = await printer.print(['runs']);
  const found: unknown[] = [];
  for (const { runId } of values) {
    const order = await readRunOrder(home, String(runId));
    found.push(order && orderWords(order).slice(2).join(' '));
  }
  return found;
}

test('a schedule runs with its recorded parameters in another process, whatever a manual run had', async () => {
  expect(await once('-p', 'target=prod')).toMatchObject({ exitCode: 0, out: '' });
  expect(await say(['run', 'nightly.yaml', '-p', 'target=test'])).toMatchObject({ exitCode: 0 });
  const lines: string[] = [];
  const context = printer.createContext({ SLUICE_SERVICE: 'http://127.0.0.1:1/' });
  const schedules = runHomeSchedules({
    ...{ home, context, options: {}, metrics: createHostMetrics() },
    log: (line) => void lines.push(line),
  });
  const place = { home, name: 'nightly' };
  expect(await requestBackfill({ ...place, from: TIME, to: TIME, dryRun: false })).toMatchObject({ ok: true });
  await expect.poll(() => lines.join('\n'), TIMEOUT).toMatch(/scheduledRunFinished .*"succeeded"/);
  expect(await listParams()).toEqual(['-p target=prod', '-p target=test']);
  // A change takes effect in the process that is running.
  await once('-p', 'target=stage');
  await expect.poll(() => lines.join('\n'), TIMEOUT).toContain('its settings were changed; opening it again');
  await requestBackfill({ ...place, from: TIME - 86_400_000, to: TIME - 86_400_000, dryRun: false });
  await expect.poll(async () => (await listParams())[0], TIMEOUT).toBe('-p target=stage');
  await schedules.close();
}, 600_000);

test('a process without recorded settings runs no schedule of the home, and says which command records them', async () => {
  const lines: string[] = [];
  await once();
  rmSync(join(home, 'schedules/nightly/settings.json'));
  const given = { home, context: printer.createContext(), options: {}, metrics: createHostMetrics() };
  const schedules = runHomeSchedules({ ...given, log: (line) => void lines.push(line) });
  await expect.poll(() => lines.join('\n'), TIMEOUT).toContain('its parameters are not recorded; record them with: ');
  await schedules.close();
});

test('a run that is requested now has the recorded parameters of its schedule, and none without them', async () => {
  await once('-p', 'target=prod');
  await say(['run', 'nightly.yaml', '-p', 'target=test']);
  const unused = async () => expect.unreachable();
  const context = printer.createContext();
  const executor = createRunExecutor({
    home,
    context,
    options: {},
    host: {} as never,
    openService: unused,
  });
  const file = join(cwd, 'nightly.yaml');
  const order = { origin: { file, schedule: 'nightly' }, reuse: false, from: [], params: {} };
  expect(await executor.createOrder(order)).toEqual({ ok: true, value: { file, params: { target: 'prod' } } });
  rmSync(join(home, 'schedules/nightly/settings.json'));
  expect(await executor.createOrder(order)).toMatchObject({
    ok: false,
    error: expect.stringContaining('not recorded'),
  });
});

test('sluice schedule run keeps what is recorded, says what it changes, and forgets it with --reset', async () => {
  await once('-p', 'target=prod', '-p', 'other=1');
  expect(await once()).toMatchObject({ exitCode: 0, out: '' });
  expect(await once('-p', 'target=test')).toMatchObject({
    ...{ exitCode: 0, out: 'nightly: warning: its settings change: parameter target from "prod" to "test"\n' },
  });
  expect(await settings()).toEqual({ params: { target: 'test', other: '1' } });
  expect((await say(['schedule', 'list'])).out).toContain(' -p target=test -p other=1 ');
  expect(await printer.print(['schedule', 'list'])).toMatchObject({ values: [{ settings: await settings() }] });
  expect(await printer.print(['schedule', 'run', '--once', 'nightly.yaml', '--reset', '-p', 'other=2'])).toMatchObject({
    values: [
      {
        ...{ type: 'scheduleChanged', seq: 1 },
        message: 'its settings change: parameter target from "test" to its default, parameter other from "1" to "2"',
      },
    ],
  });
  expect(await settings()).toEqual({ params: { other: '2' } });
});

test('sluice schedule backfill has the settings of the schedule, and changes none', async () => {
  await once('-p', 'target=prod');
  const rejected = await backfill('-p', 'target=test');
  expect(rejected).toMatchObject({ exitCode: 2, out: '' });
  expect(rejected.err).toContain('would change parameter target from "prod" to "test"; nothing was started');
  expect(rejected.err).toContain(`sluice schedule run ${join(cwd, 'nightly.yaml')} -p target=test`);
  expect(await backfill('-p', 'target=prod')).toMatchObject({ exitCode: 0 });
  expect(await listParams()).toEqual(['-p target=prod']);
  expect(await settings()).toEqual({ params: { target: 'prod' } });
});

test('sluice schedule backfill of a schedule that was never opened has the given parameters and records none', async () => {
  expect(await backfill('-p', 'target=test')).toMatchObject({ exitCode: 0 });
  expect(await listParams()).toEqual(['-p target=test']);
  expect(await settings()).toBeUndefined();
});

test('sluice schedule next reads a file whose parameters are only recorded', async () => {
  writeFileSync(join(cwd, 'nightly.yaml'), FILE.replace('target: file', 'target: { type: string }'));
  expect(await say(['schedule', 'next', 'nightly.yaml'])).toMatchObject({ exitCode: 2 });
  await once('-p', 'target=prod');
  expect(await say(['schedule', 'next', 'nightly.yaml'])).toMatchObject({ exitCode: 0 });
});

test('a recorded parameter that the file no longer has is rejected with advice', async () => {
  await once('-p', 'other=1');
  writeFileSync(join(cwd, 'nightly.yaml'), FILE.replace(', other: none', '').replace(/ \$\{\{ params.other \}\}/, ''));
  const rejected = await once();
  expect(rejected).toMatchObject({ exitCode: 2, err: expect.stringContaining('`schedule run --reset` forgets them') });
  expect(await once('--reset')).toMatchObject({ exitCode: 0 });
  expect(await settings()).toEqual({ params: {} });
});

test('the service of a schedule is recorded from options and variables, and belongs together', async () => {
  await once();
  const service = 'http://127.0.0.1:1/';
  const record = (given: object) =>
    recordScheduleSettings({ home, name: 'nightly', settings: { params: {}, ...given } });
  await record({ service, account: 'vision', cpu: 2 });
  // A service that does not answer: nothing is recorded.
  expect((await once('--account', 'audio')).exitCode).not.toBe(0);
  expect(await settings()).toEqual({ params: {}, service, account: 'vision', cpu: 2 });
  const next = await backfill('--service', 'http://127.0.0.1:2/');
  expect(next.err).toContain(
    'would change service from "http://127.0.0.1:1/" to "http://127.0.0.1:2/", account from "vision" to its default',
  );
});

test.each([
  ['a key that it does not know', { params: {}, color: 'red' }],
  ['a parameter that is no text', { params: { target: 1 } }],
  ['a text without bounds', { params: {}, root: 'x'.repeat(200_000) }],
  ['no parameters', {}],
])('settings with %s are rejected, and nothing runs with them', async (_, text) => {
  await once();
  const file = join(home, 'schedules/nightly/settings.json');
  writeFileSync(file, JSON.stringify(text));
  const rejected = await once();
  expect(rejected.exitCode).toBe(2);
  expect(rejected.err).toBe(
    `could not read ${file}: it is damaged; move it away, and record the parameters again with \`sluice schedule run\`\n`,
  );
});
