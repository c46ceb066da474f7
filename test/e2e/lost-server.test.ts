import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { obtainToken } from '@sluice/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKillingGateway, type KillingGateway } from './killing-gateway.ts';
import { CREDENTIALS, type Server, serve, serveNew } from './served-rig.ts';
import { createWorkplace, type Ended, parseLines, type Started, until, type Workplace } from './workplace-rig.ts';

/** Its second step prints how often the first one was started. */
const PIPELINE = `
version: 1
name: lost
volumes: { state: {} }
steps:
  first: { command: [sh, -c, "echo started >> /in/state/starts"], inputs: { state: { from: volumes.state, writable: true } } }
  gate: { approval: { message: go on }, needs: [first] }
  second: { command: [cat, /in/state/starts], inputs: { state: volumes.state }, needs: [gate] }
`;
/** Waits before its only container. */
const WAITING = `
version: 1
name: waiting
steps:
  gate: { approval: { message: go on } }
  only: { command: [echo, hello], needs: [gate] }
`;

let place: Workplace;
let other: Workplace;
let server: Server;
let otherServer: Server;
let gateway: KillingGateway;

beforeAll(async () => {
  place = createWorkplace();
  other = createWorkplace();
  writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
  writeFileSync(join(place.directory, 'waiting.yaml'), WAITING);
  server = await serveNew(place);
  otherServer = await serveNew(other);
  gateway = await createKillingGateway(server.url);
});

afterAll(async () => {
  await gateway?.close();
  await server?.kill();
  await otherServer?.kill();
  place.remove();
  other.remove();
});

const start = (...args: string[]): Started => place.start(args, { env: CREDENTIALS });
const sluice = (...args: string[]): Promise<Ended> => start(...args).ended;
const stateOf = (runId: string) =>
  (JSON.parse(readFileSync(join(place.home, 'runs', runId, 'server.json'), 'utf8')) as { state: string }).state;

/** Has the server execute a run up to its approval. The home learns nothing of it. */
async function detachUntilAsked(file: string): Promise<string> {
  const { stdout } = await sluice('run', file, '--detach', '--json', '--service', gateway.url);
  const { runId } = parseLines<{ runId: string }>(stdout).at(-1)!;
  const login = { email: CREDENTIALS.SLUICE_EMAIL, password: CREDENTIALS.SLUICE_PASSWORD };
  const authorization = `Bearer ${await obtainToken({ baseUrl: server.url, login })}`;
  const url = `${server.url}/api/sluice/v1/clusters/main/accounts/physics/runs/${runId}/cells?status=awaitingApproval`;
  const list = async () => (await (await fetch(url, { headers: { authorization } })).json()) as { cells?: unknown[] };
  await until(async () => (await list()).cells?.length === 1, 'the question');
  return runId;
}

/** Continues the run in this home, to its end. */
async function resumeToEnd(...args: string[]): Promise<Ended> {
  const resumed = start('resume', ...args, '--json');
  // Before it, another command could have the run.
  const hasAsked = () => resumed.stdout().includes('"approvalAsked"');
  await until(() => hasAsked() || resumed.process.exitCode !== null, 'the question');
  if (hasAsked()) expect(await sluice('approve', '-r', args[0]!, 'gate')).toMatchObject({ exitCode: 0 });
  return resumed.ended;
}

test('a run that its server does not have any more is continued without starting anything twice, or not at all', async () => {
  const runId = await detachUntilAsked('pipeline.yaml');
  const waiting = await detachUntilAsked('waiting.yaml');
  await server.kill();

  gateway.redirect(otherServer.url);
  const lost = `${gateway.url} does not have the run that it had started`;
  for (const command of ['attach', 'detach']) {
    const { exitCode, stderr } = await sluice(command, runId);
    expect(stderr).toContain(`run ${runId}: ${lost}`);
    expect(stderr).toContain(`continue it with: sluice resume ${runId}`);
    expect(exitCode).toBe(75);
  }
  const refused = await sluice('resume', runId);
  expect(refused.stderr).toContain(`${lost}: `);
  expect(refused.stderr).toContain('the service has none of its containers either; ');
  expect(refused.stderr).toContain(`sluice resume ${runId} --from-copy`);
  expect(refused.exitCode).toBe(75);
  expect(stateOf(runId)).toBe('hosted');

  rmSync(join(place.directory, 'data/hosted'), { recursive: true });
  server = await serve(place);
  gateway.redirect(server.url);
  const resumed = await resumeToEnd(runId);
  expect(resumed.stderr).toContain(`warning: ${lost}: `);
  expect(resumed.exitCode, resumed.stdout + resumed.stderr).toBe(0);
  const logs = await sluice('logs', '-r', runId, 'second', '--service', gateway.url);
  expect(logs).toEqual({ exitCode: 0, stdout: 'started\n', stderr: '' });

  expect((await sluice('resume', waiting)).stderr).toContain('the service has none of its containers either; ');
  expect(await resumeToEnd(waiting, '--from-copy')).toMatchObject({ exitCode: 0 });
});
