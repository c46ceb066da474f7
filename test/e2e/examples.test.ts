import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeStatus, type RunReportValue } from '@sluice/run';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeNumbers } from './describe-numbers.ts';
import { createWorkplace, type Ended, parseLines, type Started, until, type Workplace } from './workplace-rig.ts';

const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url));
const tried = new Set<string>();
let place: Workplace;

beforeAll(() => {
  place = createWorkplace();
  const isMade = (path: string) => /\/(results|\.sluice)$/.test(path);
  cpSync(EXAMPLES, join(place.directory, 'examples'), { recursive: true, filter: (path) => !isMade(path) });
});

afterAll(() => place.remove());

interface Told {
  readonly ended: Ended;
  readonly report: RunReportValue;
}

function start(name: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Started {
  tried.add(name);
  return place.start(['run', `examples/${name}/pipeline.yaml`, '--json', ...args], { env });
}

async function tell(started: Started): Promise<Told> {
  const ended = await started.ended;
  const last = parseLines(ended.stdout).at(-1);
  if (last?.type !== 'runFinished') throw new Error(`the run did not finish: ${ended.stdout}${ended.stderr}`);
  return { ended, report: last.report };
}

/** Runs an example to an end that must be good. */
async function run(name: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<Told> {
  const told = await tell(start(name, args, env));
  expect(told.ended, JSON.stringify(told.report.failures)).toMatchObject({ exitCode: 0, stderr: '' });
  return told;
}

const published = (path: string) => place.read(join('examples', path));
const states = ({ report }: Told) => Object.fromEntries(report.steps.map((step) => [step.step, describeStatus(step)]));
const cellsOf = ({ report }: Told, step: string) => report.steps.find(({ step: name }) => name === step)?.cells ?? [];
const resultsOf = (told: Told, step: string) => cellsOf(told, step)[0]?.results;

test('writable: each cell changes a copy of its own, and the input stays as it was', async () => {
  const done = await run('writable');
  expect(
    published('writable/results/all')
      .split('\n')
      .filter((line) => line.startsWith('5')),
  ).toEqual(['5', '5 times 10', '5 times 100']);
  expect(cellsOf(done, 'scale').map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
});

test('conditions: an expression skips a step, and steps start for how another has ended', async () => {
  const good = await run('conditions');
  const skipped = { 'deep-check': 'skipped', repair: 'skipped' };
  expect(states(good)).toEqual({ check: 'succeeded', report: 'succeeded', log: 'succeeded', ...skipped });
  expect(published('conditions/results/log.txt')).toBe('the check succeeded\n');
  const bad = await tell(start('conditions', ['--param', 'break=true', '--param', 'full=true']));
  expect(bad.ended.exitCode).toBe(1);
  expect(states(bad)).toEqual({
    check: 'failed',
    'deep-check': 'succeeded',
    report: 'skipped',
    repair: 'succeeded',
    log: 'succeeded',
  });
  expect(published('conditions/results/log.txt')).toBe('the check failed\n');
});

test('matrix: combinations less exclude, with include, and all of them read at once', async () => {
  const told = await run('matrix');
  expect(cellsOf(told, 'fit').map(({ cell }) => cell)).toEqual([
    'model-linear-depth-1',
    'model-tree-depth-1',
    'model-tree-depth-2-prune-true',
  ]);
  expect(resultsOf(told, 'compare')).toEqual({ cells: 3 });
  expect(published('matrix/results/models.txt')).toBe('linear 1\ntree 1\ntree 2\n');
});

test('samples: units are merged, samples looked up and gathered, each by itself', async () => {
  const told = await run('samples');
  expect(cellsOf(told, 'call').map(({ cell }) => cell)).toEqual([
    ...['S1,upper', 'S1,lower', 'S2,upper', 'S2,lower', 'S3,upper', 'S3,lower'],
  ]);
  expect(resultsOf(told, 'summary')).toEqual({ lines: 10 });
  expect(cellsOf(told, 'work').filter(({ cell }) => cell.startsWith('S1,'))).toHaveLength(3);
  expect(cellsOf(told, 'join').map(({ results }) => String(results?.text).trim())).toEqual(['x y z', 'd', 'e f g']);
  expect(published('samples/results/upper/upper.txt').trim()).toBe('A B C D E F G');
});

test('foreach: one cell for each item of a list that a step made, none for an empty one', async () => {
  const told = await run('foreach');
  expect(cellsOf(told, 'measure').map(({ cell }) => cell)).toEqual([1, 2, 3, 4, 5].map((n) => `part-${n}`));
  expect(resultsOf(told, 'sum')).toEqual({ total: 30 });
  const empty = await run('foreach', ['--param', 'count=0']);
  expect([cellsOf(empty, 'measure'), resultsOf(empty, 'sum')]).toEqual([[], { total: 0 }]);
});

test('foreach: hundreds of cells, each of which runs once', async () => {
  const told = await run('foreach', ['--param', 'count=300']);
  expect(cellsOf(told, 'measure').every(({ status, attempt }) => status === 'succeeded' && attempt === 1)).toBe(true);
  expect([cellsOf(told, 'measure').length, resultsOf(told, 'sum')]).toEqual([300, { total: 2292 }]);
});

test('typed-results: values of every kind in expressions, and a text stays one argument', async () => {
  const told = await run('typed-results');
  expect(resultsOf(told, 'measure')).toEqual({
    accuracy: 0.75,
    shape: { rows: 120, columns: ['a', 'b'] },
    note: 'best effort',
  });
  expect(published('typed-results/results/words.txt')).toBe('240\nb\nbest effort\n');
});

test('retry: exit codes, budget, back-off and a larger instance type', async () => {
  const told = await run('retry');
  expect(states(told)).toEqual({ flaky: 'succeeded', hopeless: 'failed', after: 'succeeded' });
  expect(cellsOf(told, 'flaky')[0]).toMatchObject({ attempt: 3, results: { attempts: 3 } });
  expect(cellsOf(told, 'hopeless')[0]).toMatchObject({ attempt: 1 });
  const tries = (await place.containers()).filter(
    ({ labels }) => labels?.['sluice-run'] === told.report.runId && labels['sluice-step'] === 'flaky',
  );
  const byAttempt = tries.map(({ labels, instanceType }) => `${labels?.['sluice-attempt']} ${instanceType}`).sort();
  expect(byAttempt).toEqual(['1 local-1', '2 local-2', '3 local-2']);
});

test('service: dependents start when it answers, and it is ended after the last of them', async () => {
  const told = await run('service');
  expect(states(told)).toEqual({
    echo: 'succeeded',
    ask: 'succeeded',
    warehouse: 'succeeded',
    count: 'succeeded',
  });
  const [up, asked] = ['warehouse', 'count'].map((name) => cellsOf(told, name)[0]!);
  expect(Date.parse(asked!.submittedAt!) - Date.parse(up!.runningAt!)).toBeGreaterThanOrEqual(1000);
  expect(published('service/results/answer.txt')).toBe('you asked for /hello\n');
});

test('approval: waits for a person', async () => {
  const started = start('approval');
  const asked = () => /"type":"approvalAsked".*"message":"([^"]*)"/.exec(started.stdout())?.[1];
  await until(() => asked() !== undefined, 'the question');
  expect(asked()).toBe('Release version 1.4.0?');
  const runId = /"runId":"(\w+)"/.exec(started.stdout())![1]!;
  expect(await place.sluice('approve', '-r', runId, 'release')).toMatchObject({ exitCode: 0 });
  expect(states(await tell(started))).toMatchObject({ release: 'succeeded', publish: 'succeeded' });
  expect(published('approval/results/released.txt')).toBe('released 1.4.0\n');
});

test('finally: runs after a failure and knows of it', async () => {
  const told = await tell(start('finally'));
  expect(told.ended.exitCode).toBe(1);
  expect(states(told)).toEqual({ work: 'failed', never: 'skipped', tidy: 'succeeded' });
  expect(published('finally/results/last-words.txt')).toBe('the run has failed, the work failed\n');
  await run('finally', ['--param', 'work=true']);
  expect(published('finally/results/last-words.txt')).toBe('the run has succeeded, the work succeeded\n');
});

test('pools: two runs at once, and never two containers inside', async () => {
  const both = [start('pools'), start('pools')];
  for (const told of await Promise.all(both.map(tell))) expect(states(told)).toEqual({ work: 'succeeded' });
});

test('cache: what is unchanged is reused, and what is ignored is no change', async () => {
  const first = await run('cache');
  expect(states(first)).toEqual({ sort: 'succeeded', count: 'succeeded' });
  expect(states(await run('cache', ['--param', 'note=other']))).toEqual({ sort: 'reused', count: 'reused' });
  const changed = await run('cache', ['--param', 'words=["b"]']);
  expect([states(changed), resultsOf(changed, 'count')]).toEqual([
    { sort: 'succeeded', count: 'succeeded' },
    { lines: 1 },
  ]);
});

test('secrets: reach the container and are found nowhere else', async () => {
  const env = { SLUICE_SECRET_TOKEN: 'canary-3b9f', SLUICE_SECRET_PASSWORD: 'canary-77c1' };
  const told = await run('secrets', [], env);
  expect(resultsOf(told, 'use')).toEqual({ token: expect.stringMatching(/^[0-9a-f]{16}$/), length: 11 });
  const directory = join(place.home, 'runs', told.report.runId);
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const entry of files) expect(readFileSync(join(entry.parentPath, entry.name), 'utf8')).not.toContain('canary');
  expect(told.ended.stdout).not.toContain('canary');
  const without = await start('secrets').ended;
  expect(without).toMatchObject({ exitCode: 2, stdout: expect.stringContaining('the secret') });
});

test('uses: a pipeline as a step, twice, with its outputs and results', async () => {
  const told = await run('uses');
  expect(Object.keys(states(told)).sort()).toEqual(['compare', 'north-mean', 'north-sort', 'south-mean', 'south-sort']);
  expect(published('uses/results/means.txt')).toBe('north 2, south 3\n20\n');
});

test('concurrency: the second run of a group waits for the first', async () => {
  const both = await Promise.all([start('concurrency'), start('concurrency')].map(tell));
  const [first, second] = both.map(({ report }) => report).sort((a, b) => a.startedAt!.localeCompare(b.startedAt!));
  expect(Date.parse(second!.startedAt!)).toBeGreaterThanOrEqual(Date.parse(first!.endedAt!));
});

test('placement: passes over clusters without an account', async () => {
  const told = await run('placement');
  expect(resultsOf(told, 'fit')).toEqual({ sum: 5050 });
  expect(told.report.steps.map(({ cells }) => cells[0]?.clusterId)).toEqual(['local', 'local']);
});

test('publish: a local copy at the end, another one later, and one output that stays', async () => {
  const told = await run('publish');
  expect(published('publish/results/words/by-length/5.txt')).toBe('brown\njumps\nquick\n');
  expect(told.report.outputs.kept?.publishedTo).toBeUndefined();
  expect(await place.sluice('pull', '-r', told.report.runId, 'kept', '--to', 'pulled')).toMatchObject({ exitCode: 0 });
  expect(place.read('pulled/kept/by-length/5.txt')).toBe('brown\njumps\nquick\n');
});

test('nightly: a schedule runs a planned time once', async () => {
  tried.add('nightly');
  const args = ['schedule', 'backfill', '2026-03-01..2026-03-01', 'examples/nightly/pipeline.yaml'];
  expect(await place.sluice(...args)).toMatchObject({ exitCode: 0 });
  expect((await place.sluice(...args)).stdout).toContain('skipped');
  expect(published('nightly/results/report/index.html')).toContain('<h1>Nightly report</h1>');
});

test('every example is run here, or by its own test', () => {
  const own = ['digits', 'library'];
  const names = readdirSync(EXAMPLES, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(names.map(({ name }) => name).filter((name) => !own.includes(name))).toEqual([...tried].sort());
});

test('examples/README.md names every example', () => {
  const page = readFileSync(join(EXAMPLES, 'README.md'), 'utf8');
  for (const name of tried) expect(page).toContain(`](${name}/pipeline.yaml)`);
});

// What is shown of these runs is the same in each place where they run.
if (process.env.SLUICE_EXAMPLE_NUMBERS !== 'false') describeNumbers(() => place);
