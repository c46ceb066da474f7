import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommandLine } from '../../src/command-line/run-command-line.ts';
import { createServiceOpener, openHomeHost } from '../../src/hosting/open-home-host.ts';
import { EVENT_VALUES } from '../../src/json/event-values.ts';
import { JSON_VALUES } from '../../src/json/json-values.ts';
import { REPORT_VALUES } from '../../src/json/report-values.ts';
import type { TestContext } from '../recording-terminal.ts';
import { createPrinter } from './printed-values.ts';

const FILES = {
  'good.yaml': `
version: 1
name: good
params: { n: 2 }
steps:
  make: { command: [sh, -c, "echo made > /out/made/file"], outputs: { made: /out/made }, cache: true }
  each: { matrix: { k: [1, 2] }, needs: make, command: ["true"] }
outputs: { best: { from: make.made } }
`,
  'bad.yaml': 'version: 1\nname: p\nsteps: { a: { command: ["true"], needs: [b] }, a: {} }\n',
  'many.yaml': `version: 1\nname: many\nsteps:\n${Array.from({ length: 1001 }, (_, n) => `  s${n}: { comand: x }\n`).join('')}`,
  'ask.yaml': 'version: 1\nname: ask\nsteps: { ask: { approval: {} } }\n',
  'long.yaml':
    'version: 1\nname: long\nsteps:\n  wait: { command: [sh, -c, "touch /out/begun; sleep 1000"], outputs: { o: /out } }\n',
  'nightly.yaml': 'version: 1\nname: nightly\nschedule: { cron: "30 2 * * *" }\nsteps: { a: { command: ["true"] } }\n',
  'service.yaml': `
root: ./data
listen: [{ host: 127.0.0.1, port: 0 }]
ports: { domain: apps.example.org, host: 127.0.0.1, port: 0 }
clusters:
  - id: main
    engine: process
    accounts: [physics]
    instanceTypes: [{ id: small, cpu: 1, memory: 1GB }]
`,
};
const CREDENTIALS = { SLUICE_EMAIL: 'ada@example.org', SLUICE_PASSWORD: 'sesame' };
const CONFIG = ['--config', 'service.yaml'];

let cwd: string;
let printer: ReturnType<typeof createPrinter>;

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'sluice-json-'));
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(cwd, name), text);
  printer = createPrinter(cwd);
});

afterAll(() => rmSync(cwd, { recursive: true, force: true, maxRetries: 10 }));

/** The values of a command that succeeds. */
async function print(...args: readonly string[]) {
  const { exitCode, values, stderr } = await printer.print(args);
  expect(exitCode, `${args.join(' ')}: ${stderr}`).toBe(0);
  return values;
}

/** Starts a command; the test sends its signals. */
function start(...args: readonly string[]): { context: TestContext; ended: Promise<number> } {
  const context = printer.createContext();
  return { context, ended: runCommandLine(args, context) };
}

test('errors of every kind have a code', async () => {
  const cases = [
    [['show'], 'RUN_NOT_FOUND'],
    [['runs', '--limit', 'many'], 'USAGE'],
    [['frobnicate'], 'USAGE'],
    [['login', 'no-address'], 'REJECTED'],
    [['admin', 'certificate', '--config', 'none.yaml'], 'REJECTED'],
  ] as const;
  for (const [args, code] of cases) {
    expect(await printer.print(args), args.join(' ')).toMatchObject({ exitCode: 2, values: [{ type: 'error', code }] });
  }
});

test('check prints diagnostics, the number of those that it omits, or the valid file', async () => {
  expect(await print('check', 'good.yaml')).toMatchObject([{ type: 'check', pipeline: 'good', steps: 2 }]);
  const types = async (file: string) => {
    const { exitCode, values } = await printer.print(['check', file]);
    expect(exitCode).toBe(2);
    return new Set(values.map(({ type }) => type));
  };
  expect(await types('bad.yaml')).toEqual(new Set(['diagnostic']));
  expect(await types('many.yaml')).toEqual(new Set(['diagnostic', 'omitted']));
});

test('plan prints cells, levels and what would be reused', async () => {
  const cells = [
    { cell: 'k-1', matrix: { k: 1 } },
    { cell: 'k-2', matrix: { k: 2 } },
  ];
  const needs = [{ step: 'make', condition: 'succeeded', data: false }];
  expect(await print('plan', 'good.yaml')).toMatchObject([
    {
      type: 'plan',
      params: { n: 2 },
      steps: [
        { step: 'make', level: 0 },
        { step: 'each', level: 1, needs, cellCount: 2, cells },
      ],
    },
  ]);
  expect(await start('run', 'good.yaml').ended).toBe(0);
  const [run] = await print('runs');
  expect(await print('plan', 'good.yaml', '--reuse')).toMatchObject([
    { reuseFrom: run!.runId, steps: [{ reuse: { reused: 1 } }, { reuse: { reused: 2 } }] },
  ]);
});

test('a run that ended is listed, its outputs are copied, and its data is removed', async () => {
  expect(await print('runs')).toMatchObject([{ type: 'run', pipeline: 'good', status: 'succeeded' }]);
  expect(await print('pull', 'best')).toMatchObject([{ type: 'download', output: 'best', files: 1, bytes: 5 }]);
  expect(await print('gc')).toMatchObject([
    { type: 'garbage', dryRun: false, bytes: 0, retained: [{ pipeline: 'good' }] },
  ]);
  expect(await print('gc', '--older-than', '0s', '--dry-run')).toMatchObject([
    { dryRun: true, removed: [{ kind: 'run', pipeline: 'good' }] },
  ]);
});

test('a run is handed to the host of its home', async () => {
  const context = printer.createContext();
  const place = { home: join(cwd, '.sluice'), context, options: {}, log: () => {}, onFailure: () => {} };
  const openService = createServiceOpener(place);
  const host = await openHomeHost({ ...place, isBackground: false, openService });
  const [detached] = await print('run', 'good.yaml', '--detach');
  expect(detached).toMatchObject({ type: 'detached', hostPid: process.pid });
  const hosted = { runId: detached!.runId, status: 'succeeded' };
  await expect.poll(() => print('runs')).toContainEqual(expect.objectContaining(hosted));
  const asking = await print('run', 'ask.yaml', '--detach');
  const { runId } = asking[0] as { runId: string };
  expect(await print('suspend', runId)).toEqual([{ schema: 1, type: 'suspension', runId }]);
  expect((await print('cancel', runId)).at(-1)).toMatchObject({ type: 'cancellation', status: 'canceled' });
  await host!.close();
  const deleted = { runs: [{ runId: detached!.runId, pipeline: 'good' }], problems: [] };
  expect(await print('delete', detached!.runId as string)).toMatchObject([{ type: 'deletion', ...deleted }]);
});

test('a step is approved, and a suspended run is canceled', async () => {
  expect(await start('run', 'ask.yaml', '--stop-at-approval').ended).toBe(75);
  const approved = { type: 'approval', step: 'ask', approved: true, status: 'suspended' };
  expect(await print('approve', 'ask')).toMatchObject([approved]);
});

test('the containers of a run whose journal is lost are orphans, and the run is adopted and canceled', async () => {
  const run = start('run', 'long.yaml');
  const files = () => readdirSync(join(cwd, '.sluice/service'), { recursive: true, encoding: 'utf8' });
  await expect.poll(() => files().some((file) => file.endsWith('/begun'))).toBe(true);
  run.context.send('SIGTERM');
  expect(await run.ended).toBe(75);
  const { runId } = (await print('runs'))[0] as { runId: string };
  rmSync(join(cwd, '.sluice/runs', runId), { recursive: true });
  expect(await print('orphans')).toMatchObject([
    { type: 'orphan', runId, step: 'wait', cell: '', createdAt: expect.any(String), run: 'unknown', canceled: false },
  ]);
  expect(await print('adopt', runId, 'long.yaml')).toMatchObject([
    { type: 'adoption', runId, containers: [{ step: 'wait', cell: '', attempt: 1 }] },
  ]);
  const canceled = (await print('cancel', runId)).at(-1);
  expect(canceled).toMatchObject({ type: 'cancellation', runId, status: 'canceled' });
});

test('schedules are listed, paused and continued', async () => {
  expect(await print('schedule', 'next', '-n', '2', 'nightly.yaml')).toMatchObject([
    ...[{ type: 'plannedTime', schedule: 'nightly', timezone: 'UTC' }, { type: 'plannedTime' }],
  ]);
  expect(await start('schedule', 'run', '--once', 'nightly.yaml').ended).toBe(0);
  expect(await print('schedule', 'list')).toMatchObject([
    { type: 'schedule', paused: false, nextAt: expect.any(String) },
  ]);
  expect(await print('schedule', 'pause', 'nightly')).toMatchObject([{ paused: true, pausedAt: expect.any(String) }]);
  expect(await print('schedule', 'unpause', 'nightly')).toMatchObject([{ paused: false }]);
});

test('this machine is examined, and a home is confirmed', async () => {
  const { values } = await printer.print(['doctor']);
  expect(values).toMatchObject([{ type: 'doctor', node: process.version, engines: [{ engine: 'process' }, {}, {}] }]);
  expect(await print('doctor', '--bundle', 'bundle.tar.gz')).toMatchObject([
    { type: 'bundle', contents: expect.arrayContaining([{ name: 'doctor.json', bytes: expect.any(Number) }]) },
  ]);
  expect(await print('trust')).toMatchObject([{ type: 'trust' }]);
});

test('the configuration and the users of a service are listed and changed', async () => {
  const admin = (...args: readonly string[]) => printer.print(['admin', ...args, ...CONFIG], CREDENTIALS);
  const changes = [
    [['user', 'add', 'ada@example.org'], { resource: 'user', action: 'add', email: 'ada@example.org' }],
    [
      ['user', 'grant', 'ada@example.org', 'main/physics'],
      { action: 'grant', clusterId: 'main', accountId: 'physics' },
    ],
    [['user', 'password', 'ada@example.org'], { action: 'password' }],
    [
      ['instance-type', 'add', 'main/large', 'cpu=2', 'memory=4GB', 'gpuModel=a100'],
      { resource: 'instanceType', action: 'add', clusterId: 'main', instanceType: 'large' },
    ],
    [
      ['cluster', 'add', 'other', 'engine=process', '--instance-type', 'tiny,cpu=1,memory=1GB'],
      { resource: 'cluster', action: 'add', clusterId: 'other' },
    ],
    [['account', 'add', 'other/physics'], { resource: 'account', action: 'add', accountId: 'physics' }],
    [['account', 'remove', 'other/physics'], { resource: 'account', action: 'remove', clusterId: 'other' }],
    [['cluster', 'remove', 'other'], { resource: 'cluster', action: 'remove', clusterId: 'other' }],
  ] as const;
  for (const [args, change] of changes) {
    const { values, stderr } = await admin(...args);
    expect(values, stderr).toMatchObject([{ type: 'change', ...change }]);
  }
  const accounts = [{ clusterId: 'main', accountId: 'physics' }];
  expect((await admin('user', 'list')).values).toMatchObject([{ type: 'user', email: 'ada@example.org', accounts }]);
  expect((await admin('account', 'list')).values).toMatchObject([{ type: 'account', ...accounts[0] }]);
  expect((await admin('cluster', 'list')).values).toMatchObject([{ type: 'cluster', accounts: 1, instanceTypes: 2 }]);
  expect((await admin('instance-type', 'list')).values).toMatchObject([
    { type: 'instanceType', instanceType: 'small', cpu: 1, memory: '1GB', gpu: 0 },
    { type: 'instanceType', instanceType: 'large', gpuModel: 'a100' },
  ]);
});

test('a service prints its address, and a login its profile', async () => {
  const server = start('serve', ...CONFIG, '--log-level', 'silent', '--json');
  try {
    await expect.poll(() => server.context.terminal.written().out).toContain('\n');
    const [listener] = printer.check(server.context);
    expect(listener).toMatchObject({ type: 'listener', url: expect.stringContaining('http://127.0.0.1:') });
    const login = await printer.print(['login', listener!.url as string], CREDENTIALS);
    const profile = { profile: 'default', email: 'ada@example.org', clusterId: 'main', accountId: 'physics' };
    expect(login).toMatchObject({ exitCode: 0, values: [{ type: 'login', ...profile }] });
    const accounts = [{ clusterId: 'main', accountId: 'physics' }];
    expect(await print('whoami')).toMatchObject([{ type: 'identity', email: 'ada@example.org', accounts }]);
    expect(await print('profile', 'use', 'default')).toMatchObject([{ type: 'homeProfile', profile: 'default' }]);
    expect(await print('profile', 'list')).toMatchObject([
      { type: 'profileEntry', profile: 'default' },
      { use: 'default', selectedBy: 'home', clusterId: 'main' },
    ]);
    expect(await print('profile', 'show')).toMatchObject([{ type: 'profileSettings', selectedBy: 'home' }]);
    expect(await print('logout')).toMatchObject([{ type: 'logout', profile: 'default', removed: true }]);
  } finally {
    server.context.send('SIGTERM');
    expect(await server.ended).toBe(0);
  }
  expect(await print('admin', 'certificate', ...CONFIG)).toMatchObject([{ type: 'certificate' }]);
});

// Last: the tests before print one value of each type at least, except events and reports.
test('each other type is printed by a command of this file', () => {
  const isElsewhere = (type: string) => Object.hasOwn(EVENT_VALUES, type) || Object.hasOwn(REPORT_VALUES, type);
  const types = Object.keys(JSON_VALUES).filter((type) => !isElsewhere(type));
  expect(types.filter((type) => !printer.seen.has(type as never))).toEqual([]);
});
