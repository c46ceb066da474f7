import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHttpService } from '@sluice/client';
import { MAX_ORDER_BYTES } from '@sluice/host';
import { expect, test } from 'vitest';
import { createCaller, createHostedPlace, prepareOrder, useHostedServer } from './hosted-rig.ts';
import { until } from './workplace-rig.ts';

const PIPELINE = `version: 1
name: hosted
steps:
  make: { command: 'echo hello > /out/text', outputs: { text: /out } }
  use: { command: 'cat /in/text/text', inputs: { text: make.text } }
outputs: { text: { from: make.text, publish: ./results } }
`;

const server = useHostedServer();

test('a server plans and executes the run of an order, and a client can copy its journal', async () => {
  const caller = createCaller(server);
  const run = await prepareOrder(server, PIPELINE);
  const reply = { status: 200, body: { runId: run.runId, url: `${server.url}/ui/main/physics/#/runs/${run.runId}` } };
  expect(await caller.order(run)).toEqual(reply);
  expect(await caller.order(run)).toEqual(reply);
  await until(async () => (await caller.status(run.runId)) === 'succeeded', 'the run to end');
  expect(await caller.order(run)).toEqual(reply);
  const other = { ...run.body, order: { ...run.body.order, parallelism: 3 } };
  expect(await caller.order({ ...run, body: other })).toMatchObject({
    ...{ status: 409, body: { details: [{ reason: 'RUN_EXISTS' }] } },
  });
  const journal = Buffer.from(await (await caller.call('GET', `/runs/${run.runId}/journal`)).arrayBuffer());
  const records = journal
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).record);
  const header = records.find(({ kind }) => kind === 'run');
  expect(header).toMatchObject({ runId: run.runId, order: run.body.order, baseDir: server.directory });
  const part = await caller.call('GET', `/runs/${run.runId}/journal?offset=${journal.length - 10}`);
  expect(Buffer.from(await part.arrayBuffer()).equals(journal.subarray(-10))).toBe(true);
  const readMetrics = async () => (await fetch(`${server.url}/metrics`)).text();
  // A run is counted when its summary is written, after its last record.
  await until(async () => (await readMetrics()).includes('sluice_runs{status="succeeded"} 1'), 'the run to be counted');
  const metrics = await readMetrics();
  expect(metrics).toContain('sluice_service_calls_total{call="containers.create",reply="ok"} 2');
  const plan = await caller.call('GET', `/runs/${run.runId}/plan-file`).then((got) => got.text());
  expect(JSON.parse(plan)).toMatchObject({ pipeline: { name: 'hosted' } });
});

test('an account of others, one that does not exist, and a missing token give nothing away', async () => {
  const paths = ['/runs', '/runs/aaaaaaaaaaaaa', '/runs/aaaaaaaaaaaaa/journal', '/openapi.json', '/events'];
  const accounts = ['main/physics', 'main/nothere', 'nothere/physics'];
  const ask = async (account: string, path: string, method = 'GET') => {
    const [cluster, name] = account.split('/');
    const url = `${server.url}/api/sluice/v1/clusters/${cluster}/accounts/${name}${path}`;
    const headers = { authorization: `Bearer ${server.tokens.nonMember}` };
    const reply = await fetch(url, { method, headers, ...(method !== 'GET' && { body: Buffer.alloc(9) }) });
    const { date: _, 'x-request-id': __, ...seen } = Object.fromEntries(reply.headers);
    return { status: reply.status, seen, body: await reply.text() };
  };
  for (const path of paths) {
    const [own, ...others] = await Promise.all(accounts.map((account) => ask(account, path)));
    expect(own).toMatchObject({ status: 403 });
    expect(others).toEqual([own, own]);
  }
  const [own, ...others] = await Promise.all(accounts.map((account) => ask(account, '/runs/aaaaaaaaaaaaa', 'PUT')));
  expect(own).toMatchObject({ status: 403 });
  expect(others).toEqual([own, own]);
  const nobody = await Promise.all([fetch(`${server.api}/runs`), fetch(`${server.api.replace('physics', 'x')}/runs`)]);
  expect(nobody.map(({ status }) => status)).toEqual([401, 401]);
  expect(await nobody[0]!.text()).toBe(await nobody[1]!.text());
});

test('hostile names, sizes and contents are rejected and leave nothing', async () => {
  const caller = createCaller(server);
  const run = await prepareOrder(server, WITH_SOURCE, { baseDir: createSource() });
  const { body } = run;
  for (const runId of ['..', '%2e%2e', '..%2f..%2fx', 'AAAAAAAAAAAAA', 'a'.repeat(400)])
    expect((await caller.order({ runId, body })).status).not.toBe(200);
  expect((await caller.json('POST', `/schedules/..%2fx:pause`, {})).status).toBe(404);
  expect((await caller.json('PUT', `/runs/${run.runId}`, { ...body, more: 'x'.repeat(MAX_ORDER_BYTES) })).status).toBe(
    413,
  );

  const text = (changed: string) => ({
    ...body,
    pipeline: { file: 'pipeline.yaml', texts: { 'pipeline.yaml': changed } },
  });
  const order = (change: object) => ({ ...body, order: { ...body.order, ...change } });
  const hostile: readonly (readonly [string, unknown, string])[] = [
    ['a file that was not sent', { ...body, pipeline: { ...body.pipeline, file: '/etc/passwd' } }, 'RUN_INVALID'],
    ['a file of the server that it includes', text('version: 1\nname: p\ninclude: [/etc/passwd]\n'), 'RUN_INVALID'],
    ['a file that is none', text('[{'), 'RUN_INVALID'],
    [
      'a command of the server',
      text(`${WITH_SOURCE}notify: [{ on: [succeeded], command: [sh, -c, id] }]\n`),
      'RUN_INVALID',
    ],
    ['too many labels', text(`${WITH_SOURCE}labels: { a: ${'x'.repeat(17_000)} }\n`), 'RUN_INVALID'],
    [
      'hasty retries',
      text(WITH_SOURCE.replace('inputs:', 'retry: { limit: 99, backoff: { initial: 10ms } }, inputs:')),
      'RUN_INVALID',
    ],
    ['an unknown parameter', order({ params: { nothing: '1' } }), 'RUN_INVALID'],
    ['a source that was not uploaded', { ...body, sources: {} }, 'SOURCE_MISSING'],
    ['a source of others', { ...body, sources: { data: 'a'.repeat(40) } }, 'SOURCE_MISSING'],
    ['a path as a digest', { ...body, sources: { data: '../../../x' } }, 'PARAMETER_INVALID'],
    ['no workspace', { ...body, workspace: undefined }, 'SOURCE_MISSING'],
    ['a path as a workspace', { ...body, workspace: { ...body.workspace, volumeId: '../x' } }, 'PARAMETER_INVALID'],
    ['a wrong login', { ...body, workspace: { ...body.workspace, login: LOGIN } }, 'LOGIN_INVALID'],
    ['a run to reuse that is a path', { ...body, reuse: { runId: '../../x', from: [] } }, 'PARAMETER_INVALID'],
    ['a run to reuse that is not here', { ...body, reuse: { runId: 'bbbbbbbbbbbbb', from: [] } }, 'RUN_NOT_FOUND'],
    ['an unknown key', { ...body, home: '/tmp' }, 'PARAMETER_INVALID'],
    ['a missing secret', text(`${WITH_SOURCE}secrets: [token]\n`), 'SECRET_MISSING'],
  ];
  for (const [name, changed, reason] of hostile) {
    const reply = await caller.json('PUT', `/runs/${run.runId}`, changed);
    expect(reply.body.message).not.toContain(server.directory);
    expect([name, reply.body.details?.[0]?.reason, reply.status >= 400 && reply.status < 500]).toEqual([
      name,
      reason,
      true,
    ]);
    expect((await caller.json('GET', `/runs/${run.runId}`)).status).toBe(404);
  }
  expect(readdirSync(join(server.directory, 'data/hosted/main/physics/staged'))).toEqual([]);
  expect((await caller.order(run)).status).toBe(200);
  await until(async () => (await caller.status(run.runId)) === 'succeeded', 'the run to end');
});

const LOGIN = { username: 'x', password: 'y', address: {} };
const WITH_SOURCE = `version: 1
name: sourced
volumes: { data: { source: . } }
steps: { read: { command: 'cat /in/data/file', inputs: { data: volumes.data } } }
`;

function createSource(): string {
  const directory = join(server.directory, 'source');
  mkdirSync(directory);
  writeFileSync(join(directory, 'file'), 'data');
  return directory;
}

const SECRET = `version: 1
name: secret
secrets: [token]
steps:
  wait: { command: '[ "$token" = very-secret-$(echo value) ] || exit 9; while [ ! -e /out/go ]; do sleep 0.1; done; echo "it is $TOKEN"', secrets: [token], outputs: { go: /out } }
notify: [{ on: [succeeded, canceled], webhook: 'http://127.0.0.1:1/\${{ run.id }}' }]
`;

test('secrets are encrypted with a key outside of the root, survive a restart, and are removed with the end of the run', async () => {
  const own = createHostedPlace('runs: { concurrent: 1, steps: 3, storage: 2MB }');
  let first = await own.open();
  try {
    const caller = createCaller(first);
    const run = await prepareOrder(first, SECRET, { secrets: { token: 'very-secret-value' } });
    expect((await caller.order(run)).status).toBe(200);
    await until(async () => (await caller.status(run.runId)) === 'running', 'the run to be executed');
    const directory = join(first.directory, 'data/hosted/main/physics/runs', run.runId);
    const sealed = readFileSync(join(directory, 'secrets.sealed'));
    expect(sealed.includes('very-secret-value')).toBe(false);
    expect(statSync(join(first.directory, 'runs.key')).mode & 0o777).toBe(0o600);
    const store = () => readFileSync(join(first.directory, 'data/store/data.mdb')).includes('very-secret-value');
    const service = createHttpService({ baseUrl: first.url, token: first.tokens.member });
    const isRunning = async () => (await caller.json('GET', `/runs/${run.runId}/states`)).body.states?.[0] === 'r';
    await until(isRunning, 'the container to run');
    const scope = { clusterID: 'main', accountID: 'physics' };
    let id = '';
    for await (const listed of service.containers.list(scope)) id = listed.id;
    const shown = await service.containers.get({ ...scope, id });
    await service.close();
    expect(store()).toBe(false);
    expect(JSON.stringify(shown)).not.toContain('very-secret-value');
    expect(shown.labels).toMatchObject({ 'sluice-secret-envs': '["token"]' });

    const second = await prepareOrder(first, PIPELINE);
    expect((await caller.order(second)).status).toBe(200);
    const tooLarge = await prepareOrder(
      first,
      PIPELINE.replace('  use:', '  more: { command: "true", matrix: { n: [1, 2, 3] } }\n  use:'),
    );
    const limit = { details: [{ reason: 'QUOTA_EXCEEDED', limit: 'runs.steps', maximum: 3, used: 0, wanted: 5 }] };
    expect(await caller.order(tooLarge)).toMatchObject({ status: 409, body: limit });
    expect((await caller.order(run)).status).toBe(200);
    const large = PIPELINE.replace('name: hosted', `name: hosted\ndescription: ${'x'.repeat(2_000_000)}`);
    expect(await caller.order(await prepareOrder(first, large))).toMatchObject({
      ...{ status: 429, body: { details: [{ limit: 'runs.storage', maximum: 2_000_000 }] } },
    });

    await first.close();
    first = await own.open();
    const again = createCaller(first);
    await until(async () => (await again.status(run.runId)) === 'running', 'the run to be resumed');
    expect((await again.status(second.runId)) === 'succeeded').toBe(false);
    expect((await again.json('POST', `/runs/${run.runId}:cancel`, {})).status).toBe(200);
    await until(async () => (await again.status(run.runId)) === 'canceled', 'the run to be canceled');
    await until(async () => (await again.status(second.runId)) === 'succeeded', 'the waiting run to end');
    await until(async () => !existsSync(join(directory, 'secrets.sealed')), 'the secrets to be removed');
    for (const dryRun of [true, false]) {
      const rejected = await again.json('POST', `/runs/${run.runId}:rerun`, { dryRun });
      expect(rejected).toMatchObject({ status: 409, body: { details: [{ reason: 'CLIENT_NEEDED' }] } });
      expect(rejected.body.message).toContain('it needs secrets, which the server has deleted at the end of the run');
    }
    const journal = readFileSync(join(directory, 'journal.ndjson'), 'utf8');
    expect(journal).not.toContain('very-secret-value');
    expect(journal).toContain('the operator of the server does not allow webhooks to 127.0.0.1');
    expect(JSON.stringify(await again.json('GET', `/runs/${run.runId}`))).not.toContain('very-secret-value');
  } finally {
    await first.close();
    own.remove();
  }
});

test('a user logs in to the dashboard of the server, whose cookie opens only the own accounts', async () => {
  const origin = server.url;
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    fetch(`${origin}${path}`, {
      ...{ method: 'POST', body, redirect: 'manual' },
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin, ...headers },
    });
  const form = (email: string, password = 'sesame') => new URLSearchParams({ email, password }).toString();
  const wrong = await post('/ui/login', form('member@example.org', '<script>'));
  expect([wrong.status, wrong.headers.get('set-cookie')]).toEqual([401, null]);
  expect(await wrong.text()).toContain('could not log in');
  expect((await post('/ui/login', form('member@example.org'), { origin: 'https://evil.example' })).status).toBe(403);

  const logIn = async (email: string) => {
    const reply = await post('/ui/login', form(email));
    expect([reply.status, reply.headers.get('location')]).toEqual([303, '/ui/']);
    const cookie = reply.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/^sluice-session=[\w-]+; Path=\/ui; HttpOnly; SameSite=Strict$/);
    return cookie.split(';')[0]!;
  };
  const member = await logIn('member@example.org');
  const nonMember = await logIn('other@example.org');
  const get = (path: string, cookie: string, headers: Record<string, string> = {}) =>
    fetch(`${origin}${path}`, { headers: { cookie, ...headers } });
  const accounts = await get('/ui/', member);
  expect(await accounts.text()).toContain('<a href="main/physics/">main/physics</a>');
  expect(accounts.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(await (await get('/ui/', nonMember)).text()).toContain('You have no account');
  expect(await (await get('/ui/', 'sluice-session=guess')).text()).toContain('name="password"');

  const page = await get('/ui/main/physics/', '');
  expect(page.status).toBe(200);
  expect(await page.text()).toBe(await (await get('/ui/nothere/either/', '')).text());
  const runs = '/ui/main/physics/api/sluice/v1/runs';
  expect(await (await get(runs, member)).json()).toMatchObject({ runs: expect.any(Array) });
  const [own, other] = await Promise.all([get(runs, nonMember), get(runs.replace('physics', 'x'), nonMember)]);
  expect([own.status, await own.text()]).toEqual([403, await other.text()]);
  expect((await get(runs, '')).status).toBe(401);
  expect((await get(runs, member, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  const act = (headers: Record<string, string>) =>
    post(`${runs}/aaaaaaaaaaaaa:cancel`, '', { cookie: member, ...headers });
  expect((await act({ origin: 'https://evil.example', 'content-type': 'application/json' })).status).toBe(403);
  expect((await act({ 'content-type': 'application/json' })).status).toBe(404);
  // The cookie is of no use for the protocol.
  expect((await get('/api/v1rc1/clusters/-/accounts', member)).status).toBe(401);
});
