import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { CREDENTIALS, type Server, serveNew } from './served-rig.ts';
import {
  createWorkplace,
  type Ended,
  makeSharedDirectory,
  parseLines,
  until,
  type Workplace,
} from './workplace-rig.ts';

const FILE = 'served.yaml';
const PIPELINE = `
version: 1
name: served
steps:
  make: { command: [sh, -c, "echo made | tee /out/file"], outputs: { made: /out } }
outputs:
  made: { from: make.made }
`;
const ASKING = PIPELINE.replace('steps:', 'steps:\n  ask: { approval: { message: "go on?" }, needs: [make] }');
const WAITING = `
version: 1
name: waiting
params: { open: { type: string } }
steps:
  wait: { command: [sh, -c, 'echo begun; until [ -e "$0" ]; do sleep 0.1; done; echo ended', "\${{ params.open }}"] }
`;

let place: Workplace;
let server: Server;
/** Another service, and what it received. */
let other: HttpServer;
let received: string[];

beforeAll(async () => {
  place = createWorkplace();
  writeFileSync(join(place.directory, FILE), PIPELINE);
  server = await serveNew(place);
  received = [];
  other = createServer((request, reply) => {
    received.push(`${request.method} ${request.url}`);
    reply.writeHead(500).end();
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
});

afterAll(async () => {
  other?.close();
  await server?.kill();
  place?.remove();
});

/** With credentials, but without anything that selects a service. */
function sluice(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return place.start(args, { env: { ...CREDENTIALS, ...env } }).ended;
}

const otherUrl = () => `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
const selected = () => ['--service', server.url, '--account', 'main/physics'];

async function run(...args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await sluice(['run', '--here', FILE, ...args, '--json']);
  expect([exitCode, stderr]).toEqual([0, '']);
  return parseLines<{ runId: string }>(stdout)[0]!.runId;
}

test('logs, logs -f and pull of a run of a service need none of the options that the run was started with', async () => {
  const runId = await run(...selected());
  expect(await sluice(['logs', '-r', runId, 'make'])).toEqual({ exitCode: 0, stdout: 'made\n', stderr: '' });
  expect(await sluice(['logs', 'make', '-f'])).toEqual({ exitCode: 0, stdout: 'made\n', stderr: '' });
  expect(await sluice(['pull', '-r', runId, 'made', '--to', 'pulled'])).toMatchObject({ exitCode: 0, stderr: '' });
  expect(readFileSync(join(place.directory, 'pulled/made/file'), 'utf8')).toBe('made\n');
});

test('logs -f and why show a run of a service that is in progress, without its options', async () => {
  const shared = makeSharedDirectory();
  onTestFinished(() => rmSync(shared, { recursive: true, force: true }));
  const open = join(shared, 'open');
  writeFileSync(join(place.directory, 'waiting.yaml'), WAITING);
  const running = place.start(['run', '--here', 'waiting.yaml', '-p', `open=${open}`, ...selected()], {
    env: CREDENTIALS,
  });
  await until(async () => (await place.runs()).some(({ pipeline }) => pipeline === 'waiting'), 'the run to begin');
  const following = place.start(['logs', 'wait', '-f'], { env: CREDENTIALS });
  const hasEnded = () => following.process.exitCode !== null;
  await until(() => following.stdout().includes('begun') || hasEnded(), 'the log');
  const why = JSON.parse((await sluice(['why', 'wait', '--json'])).stdout) as object;
  expect(why).toMatchObject({ service: { phase: 'Running' } });
  writeFileSync(open, '');
  expect(await following.ended).toEqual({ exitCode: 0, stdout: 'begun\nended\n', stderr: '' });
  expect(await running.ended).toMatchObject({ exitCode: 0 });
});

test('resume and cancel of a suspended run of a service need none of its options', async () => {
  writeFileSync(join(place.directory, 'asking.yaml'), ASKING);
  const started = await sluice(['run', '--here', 'asking.yaml', '--stop-at-approval', ...selected()]);
  expect(started).toMatchObject({ exitCode: 75, stderr: '' });
  expect(await sluice(['resume', '--stop-at-approval'])).toMatchObject({ exitCode: 75, stderr: '' });
  const canceled = await sluice(['cancel']);
  expect(canceled.stderr).toBe('');
  expect(canceled.stdout).toContain('canceled');
});

test('a variable that selects another service now does not, but an option does', async () => {
  const runId = await run(...selected());
  const env = { SLUICE_SERVICE: otherUrl() };
  expect(await sluice(['logs', '-r', runId, 'make'], env)).toEqual({ exitCode: 0, stdout: 'made\n', stderr: '' });
  expect(received).toEqual([]);
  expect((await sluice(['logs', '-r', runId, 'make', '--service', otherUrl()])).exitCode).not.toBe(0);
  expect(received).not.toEqual([]);
});

test('a run of the embedded service stays with it, whatever the variables select now', async () => {
  const runId = await run();
  received.length = 0;
  const env = { SLUICE_SERVICE: otherUrl(), SLUICE_ACCOUNT: 'other', SLUICE_PROFILE: 'missing' };
  expect(await sluice(['logs', '-r', runId, 'make'], env)).toEqual({ exitCode: 0, stdout: 'made\n', stderr: '' });
  expect(await sluice(['rerun', runId, '--all'], env)).toMatchObject({ exitCode: 0, stderr: '' });
  writeFileSync(join(place.directory, 'asking.yaml'), ASKING);
  expect(await sluice(['run', '--here', 'asking.yaml', '--stop-at-approval'])).toMatchObject({ exitCode: 75 });
  expect(await sluice(['detach'], env)).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await sluice(['cancel'], env)).toMatchObject({ exitCode: 0, stderr: '' });
  expect(received).toEqual([]);
});

test('a found home that was copied is rejected before anything is sent to the service that its runs recorded', async () => {
  await run(...selected());
  received.length = 0;
  const copy = join(place.directory, 'copied');
  // A run has a socket, which cannot be copied.
  cpSync(place.home, join(copy, '.sluice'), { recursive: true, filter: (path) => !path.endsWith('.sock') });
  const started = (args: readonly string[]) =>
    place.start(args, { cwd: copy, env: { ...CREDENTIALS, SLUICE_HOME: '' } }).ended;
  for (const args of [
    ['logs', 'make'],
    ['pull', 'made'],
    ['why', 'make'],
  ]) {
    const { exitCode, stderr } = await started(args);
    expect([args[0], exitCode, stderr]).toEqual([args[0], 2, expect.stringContaining('sluice trust')]);
  }
  expect(await started(['trust'])).toMatchObject({ exitCode: 0 });
  expect(await started(['logs', 'make'])).toEqual({ exitCode: 0, stdout: 'made\n', stderr: '' });
});
