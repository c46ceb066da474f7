import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeStatus } from '@sluice/run';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommandLine } from '../../src/command-line/run-command-line.ts';
import type { JsonValue } from '../../src/json/json-values.ts';
import { REPORT_VALUES } from '../../src/json/report-values.ts';
import { createPrinter, schemaOf } from './printed-values.ts';

/** With \`fail\`, its steps end in different ways. */
const createFile = (hook: string) => `
version: 1
name: ends
failFast: false
params: { fail: false }
steps:
  make:
    script: "test $FAIL = false && echo made > /out/made/file && echo 0.9 > /sluice/results/accuracy"
    env: { FAIL: "\${{ params.fail }}" }
    outputs: { made: /out/made }
    results: { accuracy: number }
    cache: true
  list:
    script: "echo '[{\\"id\\": \\"a\\"}, {\\"id\\": \\"b\\"}]' > /sluice/results/items"
    results: { items: array }
    cache: true
  each:
    foreach: { items: "\${{ steps.list.results.items }}", key: "\${{ item.id }}" }
    script: "echo trouble; test \${{ params.fail }} = false || exit 3"
    retry: 1
  slow: { when: "\${{ params.fail }}", command: [sleep, "100"], timeout: 1s }
  after: { needs: slow, command: ["true"] }
  last: { needs: { make: completed }, when: "\${{ !params.fail }}", command: ["true"] }
outputs: { best: { from: make.made, publish: ./best } }
results: { accuracy: make.accuracy }
notify: { on: [succeeded, failed], webhook: "${hook}" }
`;
const ASK = 'version: 1\nname: ask\nsteps: { ask: { approval: {} }, next: { needs: ask, command: ["true"] } }\n';

let cwd: string;
let printer: ReturnType<typeof createPrinter>;
const notifications: unknown[] = [];
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => void chunks.push(chunk));
  request.on('end', () => {
    notifications.push(JSON.parse(Buffer.concat(chunks).toString()));
    response.writeHead(204).end();
  });
});

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'sluice-reports-'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  writeFileSync(join(cwd, 'pipeline.yaml'), createFile(`http://127.0.0.1:${port}`));
  writeFileSync(join(cwd, 'ask.yaml'), ASK);
  printer = createPrinter(cwd);
});

afterAll(() => {
  server.close();
  rmSync(cwd, { recursive: true, force: true, maxRetries: 10 });
});

/** The only value of a command that succeeds. */
async function print<T extends keyof typeof REPORT_VALUES>(type: T, ...args: readonly string[]) {
  const { exitCode, values, stderr } = await printer.print(args);
  expect(exitCode, `${args.join(' ')}: ${stderr}`).toBe(0);
  expect(values).toMatchObject([{ schema: 1, type }]);
  expect(Object.keys(values[0]!).slice(0, 2)).toEqual(['schema', 'type']);
  return values[0] as unknown as JsonValue<T>;
}

const run = (...args: readonly string[]) => runCommandLine(['run', ...args], printer.createContext());
const statusesOf = ({ steps }: JsonValue<'runReport'>) =>
  Object.fromEntries(steps.map(({ step: name, cells }) => [name, cells.map(describeStatus).join()]));

/** The report in the directory of a run, and what `report` writes again. */
async function readReports(runId: string): Promise<JsonValue<'report'>> {
  const files = await print('reportFiles', 'report', runId, '--to', 'out', '--junit', 'out/junit.xml');
  expect(readFileSync(files.junit!, 'utf8')).toContain('<testsuites name=');
  const texts = [files.data, join(cwd, '.sluice/runs', runId, 'report.json')].map((file) => readFileSync(file, 'utf8'));
  expect(texts[1]).toBe(texts[0]);
  return schemaOf('report').parse(JSON.parse(texts[0]!)) as unknown as JsonValue<'report'>;
}

test('a run that has succeeded', async () => {
  expect(await run()).toBe(0);
  const shown = await print('runReport', 'show');
  expect(statusesOf(shown)).toEqual({
    ...{ make: 'succeeded', list: 'succeeded', each: 'succeeded,succeeded' },
    ...{ slow: 'skipped', after: 'skipped', last: 'succeeded' },
  });
  expect(shown).toMatchObject({
    status: 'succeeded',
    createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
    startedAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
    results: { accuracy: 0.9 },
    outputs: { best: { publishedTo: join(cwd, 'best'), locations: [{ cell: '' }] } },
  });
  expect(shown.steps[2]!.cells).toMatchObject([
    { cell: 'a', item: { id: 'a' }, attempt: 1 },
    { cell: 'b', item: { id: 'b' } },
  ]);
  expect(shown.steps.find(({ step: name }) => name === 'slow')!.cells).toMatchObject([
    { status: 'skipped', attempt: 0 },
  ]);
  expect(await readReports(shown.runId)).toMatchObject({ params: { fail: false }, usage: [{ containers: 5 }] });
  expect(await print('explanation', 'why', 'slow')).toMatchObject({ status: 'skipped', runStatus: 'succeeded' });
  expect(await print('explanation', 'why', 'each')).toMatchObject({ cells: [{ status: 'succeeded', count: 2 }] });
});

test('a run that reuses results', async () => {
  const [earlier] = (await printer.print(['runs'])).values;
  expect(await run()).toBe(0);
  const shown = await print('runReport', 'show');
  expect(statusesOf(shown)).toMatchObject({ make: 'reused', list: 'reused', each: 'succeeded,succeeded' });
  expect(shown.steps[0]).toMatchObject({
    status: 'succeeded',
    reused: true,
    cells: [{ reusedFrom: earlier!.runId, attempt: 0 }],
  });
  expect(await readReports(shown.runId)).toMatchObject({ usage: [{ containers: 3 }] });
  expect(await print('explanation', 'why', 'make')).toMatchObject({
    ...{ status: 'succeeded', reused: true, cache: { kind: 'hit', runId: earlier!.runId } },
    history: expect.arrayContaining([expect.objectContaining({ previousStatus: 'ready', reused: true })]),
  });
});

test('a run with failures, whose destination keeps the output of an earlier run', async () => {
  expect(await run('-p', 'fail=true')).toBe(1);
  const shown = await print('runReport', 'show');
  expect(statusesOf(shown)).toEqual({
    ...{ make: 'failed', list: 'reused', each: 'failed,failed' },
    ...{ slow: 'failed (timeout)', after: 'skipped', last: 'skipped' },
  });
  expect(shown.failures).toHaveLength(6);
  expect(shown.failures).toContainEqual(
    expect.objectContaining({
      step: 'each',
      cell: 'a',
      attempt: 2,
      reason: 'failed',
      exitCode: 3,
      logTail: ['trouble'],
    }),
  );
  expect(shown).toMatchObject({
    status: 'failed',
    results: {},
    outputs: {},
    staleOutputs: { best: { runId: expect.any(String) } },
  });
  const { attempts } = await readReports(shown.runId);
  expect(attempts.filter(({ step }) => step === 'slow')).toMatchObject([{ status: 'failed', reason: 'timeout' }]);
  const why = await print('explanation', 'why', 'each/b');
  expect(why).toMatchObject({ status: 'failed', reason: 'failed', message: 'exit code 3', item: { id: 'b' } });
  expect(why.attempts.map(({ retry }) => retry)).toEqual([expect.any(String), expect.any(String)]);
  expect(await print('explanation', 'why', 'make')).toMatchObject({ cache: { kind: 'missed', nearest: {} } });
  expect(await print('difference', 'why', 'make', '--against', 'previous')).toMatchObject({
    places: [{ verdict: 'different', parts: [{ name: 'env.FAIL', before: 'false', after: 'true' }] }],
  });
  expect(await print('explanation', 'why', 'after')).toMatchObject({
    dependencies: [{ step: 'slow', condition: 'succeeded', status: 'failed', reason: 'timeout' }],
  });
});

test('a run that waits for approval, and is canceled', async () => {
  expect(await run('ask.yaml', '--stop-at-approval')).toBe(75);
  const shown = await print('runReport', 'show');
  expect(shown).toMatchObject({ status: 'suspended', outputs: {} });
  expect(statusesOf(shown)).toEqual({ ask: 'awaiting approval', next: 'waiting' });
  expect(await print('explanation', 'why', 'ask')).toMatchObject({
    ...{ status: 'awaitingApproval', runStatus: 'suspended' },
    wait: { kind: 'approval', startedAt: expect.stringMatching(/Z$/), advice: expect.stringContaining('approve') },
  });
  expect(await print('explanation', 'why', 'next')).toMatchObject({ wait: { kind: 'dependency', steps: ['ask'] } });
  expect(await runCommandLine(['cancel', shown.runId], printer.createContext())).toBe(0);
  const canceled = await print('runReport', 'show');
  expect(canceled).toMatchObject({ status: 'canceled', message: expect.stringContaining('canceled by') });
  await readReports(shown.runId);
});

test('notifications follow the contract', () => {
  const notification = schemaOf('notification');
  expect(notifications.map((value) => notification.parse(value))).toMatchObject([
    { status: 'succeeded', pipeline: 'ends', failures: [] },
    { status: 'succeeded' },
    { status: 'failed' },
  ]);
  const { failures } = notifications[2] as { failures: { step: string }[] };
  // Without the first attempts of `each`, which were followed by others.
  expect(failures.toSorted((a, b) => (a.step < b.step ? -1 : 1))).toMatchObject([
    { step: 'each', cellCount: 2, attempt: 2 },
    { step: 'make', cellCount: 1, attempt: 1 },
    { step: 'slow', cellCount: 1, reason: 'timeout' },
  ]);
});

test('failures of every reason have a place in the schemas', () => {
  const { reason } = REPORT_VALUES.runReport.shape.failures.unwrap().element.shape;
  for (const one of ['failed', 'oom', 'timeout', 'infrastructure']) expect(reason.parse(one)).toBe(one);
});

test('history prints who wrote the files of an output, and who has used them', async () => {
  expect(await run('pipeline.yaml')).toBe(0);
  const told = await print('fileHistory', 'history', 'best/file');
  expect(told).toMatchObject({ step: 'make', output: 'made', path: 'file', makerCount: 1, sha256: expect.any(String) });
  expect(told.makers).toMatchObject([{ step: 'make', cell: '', attempt: 1 }]);
  const copy = { kind: 'published', name: 'best', directory: join(cwd, 'best') };
  expect(told.uses).toContainEqual(expect.objectContaining(copy));
});

// Last: files and requests instead of standard output.
test('each type of a report is printed or written by a test of this file', () => {
  const written = ['report', 'notification'];
  expect(Object.keys(REPORT_VALUES).filter((type) => !printer.seen.has(type as never))).toEqual(written);
});
