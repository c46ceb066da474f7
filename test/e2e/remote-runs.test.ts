import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { obtainToken } from '@sluice/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommandLine } from '../../packages/cli/src/command-line/run-command-line.ts';
import { createTestContext } from '../../packages/cli/test/recording-terminal.ts';
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
  first: { command: [sh, -c, "echo first > /out/log; sleep 1"], outputs: { out: /out } }
  gate: { approval: { message: go on }, needs: [first] }
  second: { command: [sh, -c, "cat /in/out/log; echo second"], inputs: { out: first.out }, needs: [gate] }
outputs: { out: { from: first.out, publish: results } }
`;

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
const begin = (...args: string[]) => start('run', '--service', gateway.url, ...args);
const stateOf = (runId: string) =>
  (JSON.parse(readFileSync(join(place.home, 'runs', runId, 'custody.json'), 'utf8')) as { state: string }).state;

async function newest(): Promise<ListedRun> {
  const { stdout } = await sluice('runs', '--json', '-n', '1');
  return parseLines<ListedRun>(stdout)[0]!;
}

/** How often a container was submitted, according to the journal of this home. */
function submissions(runId: string): number {
  const journal = readFileSync(join(place.home, 'runs', runId, 'journal.ndjson'), 'utf8');
  return journal.split('\n').filter((line) => line.includes('"kind":"intent"')).length;
}

test('a run on a server needs no command, and every command works on it', async () => {
  const detached = await begin('--detach', '--json').ended;
  expect(detached).toMatchObject({ exitCode: 0, stderr: '' });
  const { runId, url } = parseLines<never>(detached.stdout).at(-1) as unknown as { runId: string; url: string };
  expect(url).toContain(runId);
  expect(await newest()).toMatchObject({ runId, status: 'running' });
  const attached = start('attach', runId, '--json');
  await until(() => attached.stdout().includes('"approvalAsked"'), 'the question');
  expect((await sluice('why', '-r', runId, 'second')).stdout).toContain('gate');
  const approved = await sluice('approve', '-r', runId, 'gate');
  expect(approved).toMatchObject({ exitCode: 0, stdout: `approved gate of run ${runId} of two ("go on")\n` });
  expect(await attached.ended).toMatchObject({ exitCode: 0, stderr: '' });
  expect(place.read('results/log')).toBe('first\n');
  expect((await sluice('logs', '-r', runId, 'second')).stdout).toBe('first\nsecond\n');
  expect(JSON.parse((await sluice('show', runId, '--json')).stdout)).toMatchObject({ status: 'succeeded' });
  expect(await sluice('pull', '-r', runId, '--to', 'pulled')).toMatchObject({ exitCode: 0 });
  expect(place.read('pulled/out/log')).toBe('first\n');
});

test('an order whose command is killed is found again, and its run is executed once', async () => {
  const ordering = begin('--detach');
  gateway.killAt('PUT', () => ordering.process.kill('SIGKILL'));
  await ordering.ended;
  const { runId, status } = await newest();
  expect([stateOf(runId), status]).toEqual(['ordering', 'running']);
  const attached = start('attach', runId, '--json');
  await until(() => attached.stdout().includes('"approvalAsked"'), 'the question');
  expect(stateOf(runId)).toBe('server');
  const detached = await sluice('detach', runId);
  expect(detached).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`continues on ${gateway.url}`) });
  expect((await sluice('approve', '-r', runId, 'gate')).exitCode).toBe(0);
  expect(await attached.ended).toMatchObject({ exitCode: 0 });
  expect(submissions(runId)).toBe(2);
  expect(place.read('results/log')).toBe('first\n');
});

test('an order that has not arrived is no run, and says so', async () => {
  const runId = 'aaaaaaaaaaaaa';
  const directory = join(place.home, 'runs', runId);
  mkdirSync(directory);
  const location = { service: gateway.url, cluster: 'main', account: 'physics', publish: {} };
  writeFileSync(join(directory, 'custody.json'), JSON.stringify({ state: 'ordering', place: location }));
  writeFileSync(join(directory, 'summary.json'), JSON.stringify({ pipeline: 'two', createdAt: Date.now() }));
  for (const command of ['attach', 'resume']) {
    const { exitCode, stderr } = await sluice(command, runId);
    expect(stderr).toContain(`this account has no run ${runId}`);
    expect(stderr).toContain(`${gateway.url} has not accepted its order`);
    expect(exitCode).toBe(75);
  }
  expect((await sluice('detach', runId)).exitCode).toBe(2);
  rmSync(directory, { recursive: true });
});

test('a second home follows and answers a run, which publishes nothing there', async () => {
  expect((await begin('--detach').ended).exitCode).toBe(0);
  const { runId } = await newest();
  const other = createWorkplace();
  try {
    const start = (...args: string[]) => other.start(args, { env: CREDENTIALS });
    const followed = start('attach', runId, '--json', '--service', gateway.url);
    await until(() => followed.stdout().includes('"approvalAsked"'), 'the question');
    expect((await start('approve', '-r', runId, 'gate').ended).exitCode).toBe(0);
    expect(await followed.ended).toMatchObject({ exitCode: 0 });
    expect(JSON.parse((await start('show', runId, '--json').ended).stdout)).toMatchObject({ status: 'succeeded' });
    expect(existsSync(join(other.directory, 'results'))).toBe(false);
  } finally {
    other.remove();
  }
});

/** A run that has ended on the server, as this home does not know yet. */
async function endOnServer(name: string): Promise<string> {
  const text = PIPELINE.replace('name: two', `name: ${name}`).replace('publish: results', `publish: ${name}`);
  writeFileSync(join(place.directory, `${name}.yaml`), text.replace(/ {2}gate: .*\n {2}second: .*\n/, ''));
  const detached = await sluice('run', `${name}.yaml`, '--service', gateway.url, '--detach', '--json');
  const { runId } = parseLines(detached.stdout).at(-1)!;
  const { SLUICE_EMAIL: email, SLUICE_PASSWORD: password } = CREDENTIALS;
  const token = await obtainToken({ baseUrl: server.url, login: { email, password } });
  await until(async () => {
    const url = `${server.url}/api/sluice/v1/clusters/main/accounts/physics/runs/${runId}`;
    const reply = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    return ((await reply.json()) as { status?: string }).status === 'succeeded';
  }, 'the end of the run');
  return runId;
}

test('`resume` of a run that has ended on its server publishes its outputs here', async () => {
  const runId = await endOnServer('ended');
  expect(existsSync(join(place.directory, 'ended'))).toBe(false);
  expect(await sluice('resume', runId)).toMatchObject({ exitCode: 0, stderr: '' });
  expect(place.read('ended/log')).toBe('first\n');
  expect(stateOf(runId)).toBe('server');
  expect(submissions(runId)).toBe(1);
});

test.each(['attach', 'pull'])('`%s` fails and says so if it cannot find the outputs to publish', async (command) => {
  const runId = await endOnServer(`lost-${command}`);
  const env = { ...CREDENTIALS, HOME: place.directory, PATH: process.env.PATH };
  const context = createTestContext({ cwd: place.directory, env });
  const args = command === 'attach' ? ['attach', runId] : ['pull', '-r', runId, '--to', 'copies'];
  const isLast = (text: string) => text.includes(command === 'attach' ? '"runFinished"' : '"download"');
  const terminal = {
    ...context.terminal,
    out(text: string) {
      context.terminal.out(text);
      if (isLast(text)) rmSync(join(place.home, 'runs', runId, 'plan.json'));
    },
  };
  expect(await runCommandLine([...args, '--json'], { ...context, terminal })).toBe(1);
  const message = `could not copy the outputs of run ${runId} to their directories: `;
  expect(context.terminal.written().err).toContain(message);
  expect(parseLines<{ type: string }>(context.terminal.written().out).at(-1)).toMatchObject({ type: 'error' });
  expect(existsSync(join(place.directory, `lost-${command}`))).toBe(false);
});

test('a run on a server can be canceled, and a notification by a command is rejected before anything is sent', async () => {
  expect((await begin('--detach').ended).exitCode).toBe(0);
  const { runId } = await newest();
  expect(await sluice('cancel', runId)).toMatchObject({ exitCode: 0, stdout: `canceling run ${runId}\n` });
  expect((await sluice('attach', runId)).exitCode).toBe(1);
  writeFileSync(join(place.directory, 'notify.yaml'), `${PIPELINE}notify: [{ on: [failed], command: [mail, me] }]\n`);
  const rejected = await sluice('run', 'notify.yaml', '--service', gateway.url, '--detach');
  expect(rejected.stderr).toMatch(/notify\.yaml:\d+:\d+.*notification/);
  expect(rejected.exitCode).toBe(2);
  expect((await newest()).runId).toBe(runId);
  expect(existsSync(join(place.home, 'host'))).toBe(false);
});
