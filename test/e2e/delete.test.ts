import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { obtainToken } from '@sluice/client';
import { deleteRun } from 'sluice';
import { createRunApi } from 'sluice/run-api';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CREDENTIALS, serveNew } from './served-rig.ts';
import { createWorkplace, parseLines, until, type Workplace } from './workplace-rig.ts';

const step = (name: string, more = '') =>
  `version: 1\nname: ${name}\nsteps:\n  make: { command: [sh, -c, "echo x > /out/f"], outputs: { made: { path: /out${more} } } }\n`;

let place: Workplace;

beforeEach(() => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'pipeline.yaml'), step('plain'));
  writeFileSync(join(place.directory, 'retained.yaml'), step('retained', ', retain: true'));
  writeFileSync(join(place.directory, 'asks.yaml'), 'version: 1\nname: asks\nsteps: { ask: { approval: {} } }\n');
});

afterEach(() => place.remove());

async function run(...args: string[]): Promise<string> {
  const ran = await place.start(['run', '--json', ...args], { env: CREDENTIALS }).ended;
  const { runId } = parseLines<{ runId?: string }>(ran.stdout).find((line) => line.runId !== undefined) ?? {};
  if (runId === undefined) throw new Error(ran.stdout + ran.stderr);
  return runId;
}

test('sluice delete removes ended runs, and nothing if one of them must stay', async () => {
  const first = await run();
  const user = await run('--reuse');
  const retained = await run('retained.yaml');
  const asking = await run('asks.yaml', '--stop-at-approval');
  const ids = async () => (await place.runs()).map(({ runId }) => runId).sort();
  const all = [first, user, retained, asking].sort();
  for (const [words, message] of [
    [[first], `could not delete run ${first}: run ${user} reuses its outputs; nothing was deleted`],
    [[user, retained], 'its output make.made is to be retained; nothing was deleted'],
    [[user, asking], `it has not ended; cancel it first with: sluice cancel ${asking}`],
    [[user, 'nosuch'], 'could not find run nosuch'],
    [[], "missing required argument 'run'"],
  ] as const) {
    const refused = await place.sluice('delete', ...words);
    expect(refused).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(message) });
    expect(await ids()).toEqual(all);
  }
  const both = await place.sluice('delete', first, retained);
  expect(both).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('could not delete 2 runs') });
  const deleted = await place.sluice('delete', first.slice(0, -1), user, user);
  expect(deleted).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`deleted  run ${user} of plain`) });
  expect(await ids()).toEqual([retained, asking].sort());
  expect(await place.sluice('show', first)).toMatchObject({ exitCode: 2 });
});

interface Reply {
  readonly status: number;
  readonly value: Readonly<Record<string, unknown>>;
}

/** The run API at an address. */
function open(url: string, token: string) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const access = async (method: string, path: string, body?: object): Promise<Reply> => {
    const more = body === undefined ? {} : { body: JSON.stringify(body) };
    const reply = await fetch(`${url}${path}`, {
      method,
      headers: body ? headers : { authorization: headers.authorization },
      ...more,
    });
    return { status: reply.status, value: (await reply.json()) as Reply['value'] };
  };
  return { access, api: createRunApi({ url, token }) };
}

/** That of the only account of a server. */
async function login(url: string) {
  const { SLUICE_EMAIL: email, SLUICE_PASSWORD: password } = CREDENTIALS;
  const token = await obtainToken({ baseUrl: url, login: { email, password } });
  return open(`${url}/api/sluice/v1/clusters/main/accounts/physics`, token);
}

test('DELETE of the run API removes an ended run of a home, once', async () => {
  const first = await run();
  const user = await run('--reuse');
  const ui = place.start(['ui', '--listen', '127.0.0.1:0', '--json'], { isEndless: true });
  const file = join(place.home, 'host/api.json');
  await until(() => existsSync(file), 'the address of the run API');
  const { url, token } = JSON.parse(readFileSync(file, 'utf8')) as { url: string; token: string };
  const { access, api } = open(url, token);
  expect(await access('DELETE', `/runs/${first}`)).toMatchObject({
    status: 409,
    value: { message: `could not delete run ${first}: run ${user} reuses its outputs` },
  });
  expect(await access('DELETE', '/runs/x')).toMatchObject({ status: 400 });
  expect(await api.call('deleteRun', { path: { runId: user } })).toEqual({ runId: user, deleted: true });
  expect(await api.call('deleteRun', { path: { runId: user } })).toEqual({ runId: user, deleted: false });
  expect(await access('GET', `/runs/${user}`)).toMatchObject({ status: 404 });
  await expect(deleteRun(user, { home: place.home })).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
  expect(await deleteRun(first, { home: place.home })).toMatchObject({ runId: first, pipeline: 'plain' });
  expect(await api.call('listRuns')).toEqual({ runs: [] });
  ui.process.kill('SIGTERM');
  await ui.ended;
});

test('sluice delete removes runs of a service with the service that they recorded, and from the server that executed them', async () => {
  const server = await serveNew(place);
  try {
    const here = await run('--here', '--service', server.url);
    const there = await run('--service', server.url, '--label', 'team=x');
    const labeled = parseLines<{ runId: string }>((await place.sluice('runs', '--json', '--label', 'team=x')).stdout);
    expect(labeled.map(({ runId }) => runId)).toEqual([there]);
    const sluice = (...args: string[]) => place.start(args, { env: CREDENTIALS }).ended;
    const deleted = await sluice('delete', here, '--json');
    expect(parseLines(deleted.stdout), deleted.stderr).toMatchObject([
      { type: 'deletion', runs: [{ runId: here, pipeline: 'plain' }], problems: [] },
    ]);
    expect((await place.runs()).map(({ runId }) => runId)).toEqual([there]);
    const { access, api } = await login(server.url);
    const { runId: rerun } = (await access('POST', `/runs/${there}:rerun`, {})).value as { runId: string };
    await until(
      async () => (await access('GET', `/runs/${rerun}`)).value.endedAt !== undefined,
      'the end of the rerun',
    );
    // The home does not have the rerun, but its server does.
    const used = await sluice('delete', there);
    expect(used).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`run ${rerun}`) });
    expect(await access('DELETE', `/runs/${there}`)).toMatchObject({
      status: 409,
      value: { details: [{ reason: 'RUN_KEPT' }], message: expect.stringContaining(`run ${rerun} reuses its outputs`) },
    });
    const both = await sluice('delete', there, rerun, '--service', server.url);
    expect(both, both.stderr).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`run ${rerun} of plain`) });
    expect(await place.runs()).toEqual([]);
    expect(await access('GET', `/runs/${rerun}`)).toMatchObject({
      status: 404,
      value: { details: [{ reason: 'RUN_REMOVED', status: 'succeeded' }] },
    });
    expect(await access('DELETE', `/runs/${rerun}`)).toEqual({ status: 200, value: { runId: rerun, deleted: false } });
    expect(await api.call('listRuns')).toEqual({ runs: [] });
    const asking = await run('asks.yaml', '--service', server.url, '--detach');
    expect(await access('DELETE', `/runs/${asking}`)).toMatchObject({
      status: 409,
      value: { message: expect.stringContaining('it has not ended') },
    });
    await sluice('cancel', asking);
    const local = await run();
    const again = await run('--here', '--service', server.url);
    const mixed = await sluice('delete', local, again);
    expect(mixed).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('on different services') });
  } finally {
    await server.kill();
  }
});
