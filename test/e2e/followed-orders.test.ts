import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKillingGateway, type KillingGateway } from './killing-gateway.ts';
import { CREDENTIALS, type Server, serveNew } from './served-rig.ts';
import {
  createWorkplace,
  type Ended,
  type ListedRun,
  parseLines,
  type Started,
  until,
  type Workplace,
} from './workplace-rig.ts';

const PIPELINE = `
version: 1
name: two
steps:
  first: { command: [sh, -c, "echo first > /out/log"], outputs: { out: /out } }
  gate: { approval: { message: go on }, needs: [first] }
  second: { command: [sh, -c, "cat /in/out/log; exit $CODE"], inputs: { out: first.out }, needs: [gate], env: { CODE: "\${{ params.code }}" } }
params: { code: 0 }
outputs: { out: { from: first.out, publish: results } }
`;
const NOTIFY = `${PIPELINE}\nnotify: [{ on: [failed], command: [notify-send, failed] }]\n`;

let place: Workplace;
let server: Server;
let gateway: KillingGateway;

beforeAll(async () => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
  server = await serveNew(place);
  gateway = await createKillingGateway(server.url);
});

afterAll(async () => {
  await gateway?.close();
  await server?.kill();
  place.remove();
});

const start = (...args: string[]): Started => place.start(args, { env: CREDENTIALS });
const sluice = (...args: string[]): Promise<Ended> => start(...args).ended;
const begin = (...args: string[]) => start('run', '--service', gateway.url, '--json', ...args);
const listRuns = () => (existsSync(join(place.home, 'runs')) ? readdirSync(join(place.home, 'runs')) : []);

/** The run of a command that follows it until its question. */
async function waitForQuestion(started: Started): Promise<string> {
  await until(() => started.stdout().includes('"approvalAsked"'), 'the question');
  return parseLines(started.stdout()).find(({ type }) => type === 'runStarted')!.runId;
}

async function stateOf(runId: string): Promise<unknown> {
  return JSON.parse((await sluice('show', runId, '--json')).stdout);
}

test('a run is executed by the server of its service, and followed to its end', async () => {
  const started = begin();
  const runId = await waitForQuestion(started);
  const [listed] = parseLines((await sluice('runs', '--json')).stdout);
  expect(listed).toMatchObject({ runId, executor: 'server' });
  expect((await sluice('approve', '-r', runId, 'gate')).exitCode).toBe(0);
  expect(await started.ended).toMatchObject({ exitCode: 0, stderr: '' });
  expect(place.read('results/log')).toBe('first\n');
});

test('a rerun is ordered from the server of the run, which reuses its results, whatever the variables select', async () => {
  const { runId } = parseLines<ListedRun>((await sluice('runs', '--json')).stdout).find(
    ({ status }) => status === 'succeeded',
  )!;
  const env = { ...CREDENTIALS, SLUICE_SERVICE: 'http://127.0.0.1:1' };
  const again = place.start(['rerun', runId, '--from', 'gate', '--json'], { env });
  const rerun = await waitForQuestion(again);
  expect(parseLines((await sluice('runs', '--json')).stdout)[0]).toMatchObject({ runId: rerun, executor: 'server' });
  expect(await stateOf(rerun)).toMatchObject({
    steps: expect.arrayContaining([expect.objectContaining({ step: 'first', reused: true })]),
  });
  expect((await sluice('approve', '-r', rerun, 'gate')).exitCode).toBe(0);
  expect((await again.ended).exitCode).toBe(0);
});

test('Ctrl-C leaves the run on the server, and its end is the exit code of the next command that follows it', async () => {
  const started = begin('-p', 'code=3');
  const runId = await waitForQuestion(started);
  started.process.kill('SIGINT');
  const left = await started.ended;
  expect(left).toMatchObject({ exitCode: 130 });
  expect(left.stderr).toContain(`run ${runId} continues; attach again with: sluice attach ${runId}`);
  expect(await stateOf(runId)).toMatchObject({ status: 'running' });
  expect((await sluice('approve', '-r', runId, 'gate')).exitCode).toBe(0);
  expect((await sluice('attach', runId)).exitCode).toBe(1);
});

test('`attach` finds the run of a command that was killed at its order, which the server executes once', async () => {
  const started = begin();
  gateway.killAt('PUT', () => started.process.kill('SIGKILL'));
  await started.ended;
  const attached = start('attach', '--json');
  const runId = await waitForQuestion(attached);
  expect((await sluice('approve', '-r', runId, 'gate')).exitCode).toBe(0);
  expect((await attached.ended).exitCode).toBe(0);
  const journal = readFileSync(join(place.home, 'runs', runId, 'journal.ndjson'), 'utf8');
  expect(journal.split('\n').filter((line) => line.includes('"kind":"intent"'))).toHaveLength(2);
});

test.each([
  ['an exit at the approval', PIPELINE, ['--stop-at-approval'], 'start it without --stop-at-approval'],
  ['a command of this machine', NOTIFY, [], 'cannot run a command of this machine'],
])('what a server cannot do is rejected, and nothing is started: %s', async (_, text, options, message) => {
  const before = listRuns();
  writeFileSync(join(place.directory, 'other.yaml'), text);
  const { exitCode, stderr } = await sluice('run', 'other.yaml', '--service', gateway.url, ...options);
  expect(stderr).toContain(message);
  expect(exitCode).toBe(2);
  expect(listRuns()).toEqual(before);
});

test('with --here, this machine executes the run, and a rerun of it too', async () => {
  const started = begin('--here');
  const runId = await waitForQuestion(started);
  const [listed] = parseLines((await sluice('runs', '--json')).stdout);
  expect(listed).toMatchObject({ runId, executor: 'terminal' });
  expect((await sluice('approve', '-r', runId, 'gate')).exitCode).toBe(0);
  expect((await started.ended).exitCode).toBe(0);
  const again = start('rerun', runId, '--from', 'gate', '--json');
  const rerun = await waitForQuestion(again);
  expect(JSON.parse((await sluice('show', rerun, '--json')).stdout)).toMatchObject({
    steps: expect.arrayContaining([expect.objectContaining({ step: 'first', reused: true })]),
  });
  expect(parseLines((await sluice('runs', '--json')).stdout)[0]).toMatchObject({ runId: rerun, executor: 'terminal' });
  expect((await sluice('approve', '-r', rerun, 'gate')).exitCode).toBe(0);
  expect((await again.ended).exitCode).toBe(0);
});
