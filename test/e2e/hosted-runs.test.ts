import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHttpService } from '@sluice/client';
import { MAX_PART_BYTES } from '@sluice/host';
import { resumeRun } from '@sluice/runner';
import { expect, test } from 'vitest';
import { encodeLine } from '../../packages/home/src/journal/line-codec.ts';
import { createCaller, createHostedPlace, digestOf, readRecorded, recordRun, useHostedServer } from './hosted-rig.ts';
import { until } from './workplace-rig.ts';

const PIPELINE = `version: 1
name: hosted
steps:
  make: { command: 'echo hello > /out/text', outputs: { text: /out } }
  use: { command: 'cat /in/text/text', inputs: { text: make.text } }
outputs: { text: { from: make.text, publish: ./results } }
`;

const server = useHostedServer();

test('a server executes a run that a client has recorded, and the client can copy its journal', async () => {
  const caller = createCaller(server);
  const run = await recordRun(server, PIPELINE);
  await caller.send(run);
  expect(await caller.start(run)).toEqual({
    status: 200,
    body: { runId: run.runId, url: `${server.url}/ui/main/physics/#/runs/${run.runId}` },
  });
  await until(async () => (await caller.status(run.runId)) === 'succeeded', 'the run to end');
  const journal = Buffer.from(await (await caller.call('GET', `/runs/${run.runId}/journal`)).arrayBuffer());
  expect(journal.subarray(0, run.files['journal.ndjson'].length).equals(run.files['journal.ndjson'])).toBe(true);
  const reply = await caller.call('GET', `/runs/${run.runId}/journal?offset=${journal.length - 10}`);
  expect(Buffer.from(await reply.arrayBuffer()).equals(journal.subarray(-10))).toBe(true);
  expect(await caller.release(run.runId)).toEqual({
    status: 200,
    body: { runId: run.runId, status: 'succeeded', journal: digestOf(journal) },
  });
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  expect(metrics).toContain('sluice_runs{status="succeeded"} 1');
  expect(metrics).toContain('sluice_service_calls_total{call="containers.create",reply="ok"} 2');
  expect(await caller.call('GET', `/runs/${run.runId}/plan-file`).then((got) => got.text())).toBe(
    readFileSync(join(run.home, 'runs', run.runId, 'plan.json'), 'utf8'),
  );
});

test('an account of others, one that does not exist, and a missing token give nothing away', async () => {
  const paths = ['/runs', '/runs/aaaaaaaaaaaaa', '/runs/aaaaaaaaaaaaa/staged', '/openapi.json', '/events'];
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
  const [own, ...others] = await Promise.all(
    accounts.map((account) => ask(account, '/runs/aaaaaaaaaaaaa/files/plan.json?offset=0', 'PUT')),
  );
  expect(own).toMatchObject({ status: 403 });
  expect(others).toEqual([own, own]);
  const nobody = await Promise.all([fetch(`${server.api}/runs`), fetch(`${server.api.replace('physics', 'x')}/runs`)]);
  expect(nobody.map(({ status }) => status)).toEqual([401, 401]);
  expect(await nobody[0]!.text()).toBe(await nobody[1]!.text());
});

test('hostile names, sizes and contents are rejected and leave nothing', async () => {
  const caller = createCaller(server);
  const reasonOf = ({ body }: Awaited<ReturnType<typeof caller.json>>) => body.details?.[0]?.reason;
  const id = 'aaaaaaaaaaaaa';
  for (const name of ['hosted.json', '..%2f..%2fx', 'secrets.sealed', 'plan.json%00'])
    expect((await caller.json('PUT', `/runs/${id}/files/${name}?offset=0`, Buffer.from('x'))).status).toBe(404);
  for (const runId of ['..', '%2e%2e', '..%2f..%2fx', 'AAAAAAAAAAAAA', 'a'.repeat(400)])
    expect((await caller.json('PUT', `/runs/${runId}/files/plan.json?offset=0`, Buffer.from('x'))).status).not.toBe(
      200,
    );
  expect((await caller.json('PUT', `/runs/${id}/files/plan.json?offset=-1`, Buffer.from('x'))).status).toBe(400);
  expect((await caller.put(id, 'plan.json', Buffer.alloc(MAX_PART_BYTES + 1))).status).toBe(413);
  expect((await caller.json('POST', `/schedules/..%2fx:pause`, {})).status).toBe(404);

  const run = await recordRun(server, PIPELINE);
  const sendChanged = async (change: Partial<Record<'plan.json' | 'journal.ndjson', Buffer>>) => {
    await caller.release(run.runId);
    const files = { ...run.files, ...change };
    await caller.send({ ...run, files });
    const digests = { 'plan.json': digestOf(files['plan.json']), 'journal.ndjson': digestOf(files['journal.ndjson']) };
    return caller.start({ ...run, start: { ...run.start, files: digests } });
  };
  const plan = (change: (plan: HostilePlan) => void) => {
    const parsed = JSON.parse(run.files['plan.json'].toString());
    change(parsed);
    return { 'plan.json': Buffer.from(JSON.stringify(parsed)) };
  };
  const journal = (kind: string, change: object) => {
    const lines = run.files['journal.ndjson'].toString().trimEnd().split('\n');
    const changed = lines.map((text) => {
      const { crc: _, ...line } = JSON.parse(text);
      return encodeLine(line.record.kind === kind ? { ...line, record: { ...line.record, ...change } } : line);
    });
    return { 'journal.ndjson': Buffer.from(changed.join('')) };
  };
  const hostile = [
    plan((one) => {
      one.pipeline.steps[0]!.name = '../../x';
    }),
    plan((one) => {
      one.pipeline.name = '../x';
    }),
    plan((one) => {
      one.pipeline.notify = [{ on: ['succeeded'], command: ['sh', '-c', 'id'] }];
    }),
    plan((one) => {
      one.pipeline.volumes = { host: { source: '/etc', retain: false } };
    }),
    plan((one) => {
      one.steps[1]!.dependencies = [{ on: [99], data: true }];
    }),
    { 'plan.json': Buffer.from('[') },
    { 'plan.json': Buffer.alloc(0) },
    journal('run', { accountID: 'other' }),
    journal('run', { runId: 'bbbbbbbbbbbbb' }),
    journal('run', { reuse: { runId: '../../x', force: [] } }),
    journal('volumes', { volumes: { '': { volumeID: '../x', path: '' } } }),
    { 'journal.ndjson': Buffer.from('nonsense\n') },
    { 'journal.ndjson': run.files['journal.ndjson'].subarray(0, -5) },
  ];
  for (const [index, change] of hostile.entries()) {
    const reply = await sendChanged(change);
    const reason = index === 6 ? 'PARAMETER_INVALID' : 'RUN_INVALID';
    expect([index, reply.status, reasonOf(reply)]).toEqual([index, 400, reason]);
  }
  const login = { username: 'x', password: 'y', address: {} };
  const wrong = { ...run, start: { ...run.start, logins: { [Object.keys(run.start.logins!)[0]!]: login } } };
  await caller.send(run);
  expect(reasonOf(await caller.start(wrong))).toBe('LOGIN_INVALID');
  expect((await caller.json('GET', `/runs/${run.runId}`)).status).toBe(404);
  await caller.release(run.runId);
});

/** What the test changes. */
interface HostilePlan {
  readonly pipeline: { readonly steps: { name: string }[]; name: string; notify: unknown; volumes: unknown };
  readonly steps: { dependencies: unknown }[];
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
    const run = await recordRun(first, SECRET, { secrets: { token: 'very-secret-value' } });
    await caller.send(run);
    expect((await caller.start(run)).status).toBe(200);
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

    const second = await recordRun(first, PIPELINE);
    await caller.send(second);
    expect((await caller.start(second)).status).toBe(200);
    const tooLarge = await recordRun(
      first,
      PIPELINE.replace('  use:', '  more: { command: "true", matrix: { n: [1, 2, 3] } }\n  use:'),
    );
    await caller.send(tooLarge);
    const limit = { details: [{ reason: 'QUOTA_EXCEEDED', limit: 'runs.steps', maximum: 3, used: 0, wanted: 5 }] };
    expect(await caller.start(tooLarge)).toMatchObject({ status: 409, body: limit });
    expect((await caller.start(run)).status).toBe(200);
    const stored = await caller.put('ccccccccccccc', 'plan.json', Buffer.alloc(2_000_000));
    expect(stored).toMatchObject({ status: 429, body: { details: [{ limit: 'runs.storage', maximum: 2_000_000 }] } });

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
      const refused = await again.json('POST', `/runs/${run.runId}:rerun`, { dryRun });
      expect(refused).toMatchObject({ status: 409, body: { details: [{ reason: 'CLIENT_NEEDED' }] } });
      expect(refused.body.message).toContain('it needs secrets, which the server has deleted at the end of the run');
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

test('a run changes between a client and a server while its container runs', async () => {
  const caller = createCaller(server);
  const run = await recordRun(
    server,
    PIPELINE.replace('echo hello', 'while [ ! -e /out/go ]; do sleep 0.1; done; echo hello'),
  );
  await caller.send(run);
  await caller.start(run);
  await until(async () => (await caller.status(run.runId)) === 'running', 'the run to be executed');
  await until(
    async () => (await caller.json('GET', `/runs/${run.runId}/states`)).body.states?.[0] === 'r',
    'the step to run',
  );
  const { runs } = (await (await caller.call('GET', '/runs?status=running')).json()) as { runs: unknown[] };
  expect(runs).toContainEqual(expect.objectContaining({ runId: run.runId, executor: 'server' }));
  const released = await caller.release(run.runId);
  expect(released.body.status).toBe('suspended');
  const reply = await caller.call('GET', `/runs/${run.runId}/journal`);
  const journal = Buffer.from(await reply.arrayBuffer());
  expect(digestOf(journal)).toEqual(released.body.journal);
  for (const action of ['resume', 'cancel'])
    expect(await caller.json('POST', `/runs/${run.runId}:${action}`, {})).toMatchObject({
      ...{ status: 409, body: { details: [{ reason: 'RUN_RELEASED' }] } },
    });
  writeFileSync(join(run.home, 'runs', run.runId, 'journal.ndjson'), journal);
  const service = createHttpService({ baseUrl: server.url, token: server.tokens.member });
  const resumed = await resumeRun({ runId: run.runId, home: run.home, service });
  if (!resumed.ok) throw new Error(resumed.error.message);
  await resumed.value.detach();
  await service.close();
  const back = await readRecorded(run.home, run.runId);
  await caller.send(back);
  expect((await caller.start(back)).status).toBe(200);
  const workspace = join(server.directory, 'data/clusters/main/volumes/physics', Object.keys(run.start.logins!)[0]!);
  writeFileSync(join(workspace, 'runs', run.runId, 'work/make/a1/text/go'), '');
  await until(async () => (await caller.status(run.runId)) === 'succeeded', 'the run to end');
  const { body } = await caller.json('GET', `/runs/${run.runId}/cell?step=make`);
  expect(body.attempts).toHaveLength(1);
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
