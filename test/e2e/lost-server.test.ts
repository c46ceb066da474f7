import { writeFileSync } from 'node:fs';
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
let place: Workplace;
let other: Workplace;
let server: Server;
let otherServer: Server;
let gateway: KillingGateway;

beforeAll(async () => {
  place = createWorkplace();
  other = createWorkplace();
  writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
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

test('a run that its server does not have any more is started nowhere else, and the commands say so', async () => {
  const runId = await detachUntilAsked('pipeline.yaml');
  await server.kill();
  gateway.redirect(otherServer.url);
  const lost = `${gateway.url} does not have the run that it had started`;
  for (const command of ['attach', 'resume']) {
    const { exitCode, stderr } = await sluice(command, runId);
    expect(stderr).toContain(`run ${runId}: ${lost}`);
    expect(stderr).toContain(`start it again with: sluice rerun ${runId}`);
    expect(exitCode).toBe(75);
  }
  server = await serve(place);
  gateway.redirect(server.url);
  expect(await sluice('approve', '-r', runId, 'gate')).toMatchObject({ exitCode: 0 });
  expect(await sluice('attach', runId)).toMatchObject({ exitCode: 0 });
  expect(await sluice('logs', '-r', runId, 'second')).toEqual({ exitCode: 0, stdout: 'started\n', stderr: '' });
});
