import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { obtainToken } from '@sluice/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CREDENTIALS, configure, type Server, serve, serveNew } from './served-rig.ts';
import { createWorkplace, type Ended, parseLines, until, type Workplace } from './workplace-rig.ts';

const PIPELINE = `
version: 1
name: old
steps:
  gate: { approval: {} }
  make: { command: [sh, -c, "echo made > /out/text"], outputs: { text: /out }, needs: [gate] }
outputs: { text: { from: make.text } }
`;
const RETENTION = 'runs: { retention: 1ms }';

let place: Workplace;
let server: Server | undefined;

beforeAll(() => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
});

afterAll(async () => {
  await server?.kill();
  place.remove();
});

const sluice = (...args: string[]): Promise<Ended> => place.start(args, { env: CREDENTIALS }).ended;
const hosted = (...path: string[]) => join(place.directory, 'data/hosted/main/physics', ...path);

/** Asks the run API of the account; with a body, by POST. */
async function request(
  url: string,
  path: string,
  body?: object,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const login = { email: CREDENTIALS.SLUICE_EMAIL, password: CREDENTIALS.SLUICE_PASSWORD };
  const authorization = `Bearer ${await obtainToken({ baseUrl: url, login })}`;
  const reply = await fetch(`${url}/api/sluice/v1/clusters/main/accounts/physics/runs${path}`, {
    ...{ method: body === undefined ? 'GET' : 'POST', headers: { authorization, 'content-type': 'application/json' } },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: reply.status, body: await reply.json() };
}

/** A run that has ended on the server, of which the client knows nothing but its start. */
async function executeThere(url: string): Promise<string> {
  const detached = await sluice('run', '--detach', '--json', '--service', url);
  const { runId } = parseLines<{ runId: string }>(detached.stdout).at(-1)!;
  // Not by a command, which would copy more.
  const approve = async () => (await request(url, `/${runId}:approve`, { step: 'gate' })).status === 200;
  await until(approve, 'the approval');
  // The mark is removed last.
  await until(() => !existsSync(hosted('runs', runId, 'custody.json')), 'the run to end');
  return runId;
}

test('a server removes what ended long ago, its data stays, and a client is told how the run ended', async () => {
  server = await serveNew(place);
  const { url } = server;
  const lost = await executeThere(url);
  const copied = await executeThere(url);
  expect(await sluice('show', copied)).toMatchObject({ exitCode: 0, stderr: '' });
  await server.kill();
  configure(place, { port: Number(new URL(url).port), extra: RETENTION });
  server = await serve(place);
  await until(() => readdirSync(hosted('runs')).length === 0, 'the runs to be removed');
  for (const runId of [lost, copied])
    await until(() => readdirSync(hosted('removed', runId)).join() === 'summary.json', 'the files to be deleted');

  expect((await request(url, '')).body).toEqual({ runs: [] });
  const gone = { code: 404, details: [{ reason: 'RUN_REMOVED', status: 'succeeded' }] };
  for (const reply of [`/${lost}`, `/${lost}/journal`]
    .map((path) => request(url, path))
    .concat(request(url, `/${lost}:rerun`, {})))
    expect(await reply).toMatchObject({ status: 404, body: gone });

  const resumed = await sluice('resume', lost);
  expect(resumed.exitCode).toBe(2);
  expect(resumed.stderr).toContain('the server removed it on');
  const shown = await sluice('show', lost, '--json');
  expect(shown.exitCode).toBe(0);
  expect(JSON.parse(shown.stdout)).toMatchObject({ runId: lost, status: 'succeeded' });
  const attached = await sluice('attach', lost);
  expect(attached).toMatchObject({ exitCode: 2 });
  expect(attached.stderr).toContain('its server removed it before this home had copied its end');

  expect(await sluice('pull', '-r', copied, '--to', 'pulled')).toMatchObject({ exitCode: 0, stderr: '' });
  expect(place.read('pulled/text/text')).toBe('made\n');
});
