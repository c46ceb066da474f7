import { existsSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { USER } from '../service-rig.ts';
import { API, loginForm, MD5_OF_PASSWORD, openRawHttp, type RawHttp } from './raw-http.ts';

let http: RawHttp;
beforeAll(async () => {
  http = await openRawHttp();
});
afterAll(() => http.close());

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const spec = (more: object = {}) => JSON.stringify({ instanceType: 'small', command: ['true'], ...more });

describe('login', () => {
  it('returns the token in the configured header, and the user', async () => {
    const reply = await http.send('POST', '/user/api/login', {
      headers: FORM,
      body: loginForm(USER.email, MD5_OF_PASSWORD),
    });
    expect(reply.status).toBe(200);
    expect(reply.headers.svc_token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(reply.headers['content-type']).toBe('application/json;charset=UTF-8');
    const user = reply.json();
    expect(user).toMatchObject({ email: USER.email, bossuid: null, originChannel: null, ssh: false });
    expect(user).not.toHaveProperty('code');
  });

  it('accepts the fields in the query, on a path with repeated slashes', async () => {
    const path = `//user//api/login/?${loginForm(USER.email.toUpperCase(), MD5_OF_PASSWORD.toUpperCase())}`;
    const reply = await http.send('POST', path, { headers: { 'content-type': 'application/json' } });
    expect(reply.status).toBe(200);
  });

  it('gives the same error for an unknown user and a wrong password', async () => {
    const replies = await Promise.all(
      [loginForm('nobody@example.org', MD5_OF_PASSWORD), loginForm(USER.email, 'f'.repeat(32))].map((body) =>
        http.send('POST', '/user/api/login', { headers: FORM, body }),
      ),
    );
    expect(replies.map(({ status }) => status)).toEqual([401, 401]);
    expect(replies[0]!.text).toBe(replies[1]!.text);
    expect(replies[0]!.json()).toMatchObject({ code: 401, status: 'UNAUTHENTICATED', msg: expect.any(String) });
  });

  it('does not block an account for other addresses after failures from one', async () => {
    const from = new Agent({ localAddress: '127.0.0.2' });
    const attempt = (password: string, agent?: Agent) =>
      new Promise<number>((resolve, reject) => {
        const url = `${http.url}/user/api/login`;
        const sent = request(url, { method: 'POST', headers: FORM, ...(agent && { agent }) }, (reply) => {
          reply.resume().once('end', () => resolve(reply.statusCode ?? 0));
        });
        sent.once('error', reject).end(loginForm(USER.email, password));
      });
    for (let i = 0; i < 12; i++) expect(await attempt('f'.repeat(32), from)).toBe(i < 10 ? 401 : 429);
    expect(await attempt(MD5_OF_PASSWORD, from)).toBe(429);
    expect(await attempt(MD5_OF_PASSWORD)).toBe(200);
    from.destroy();
  });

  it('blocks an account after ten failures, with the time to wait, and only that account', async () => {
    const wrong = () =>
      http.send('POST', '/user/api/login', { headers: FORM, body: loginForm('eve@example.org', 'x') });
    const replies = await Promise.all(Array.from({ length: 15 }, wrong));
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(10);
    const rejected = replies.filter(({ status }) => status === 429);
    expect(rejected).toHaveLength(5);
    expect(Number(rejected[0]!.headers['retry-after'])).toBeGreaterThan(60);
    const other = await http.send('POST', '/user/api/login', {
      headers: FORM,
      body: loginForm(USER.email, MD5_OF_PASSWORD),
    });
    expect(other.status).toBe(200);
  });
});

describe('authentication', () => {
  it.each([
    ['no header', {}],
    ['an empty header', { authorization: '' }],
    ['another scheme', { authorization: 'Basic YTpi' }],
    ['a made-up token', { authorization: 'Bearer nothing' }],
    ['an over-long token', { authorization: `Bearer ${'x'.repeat(5000)}` }],
  ])('rejects %s with 401', async (_, headers) => {
    for (const path of [`${API}/containers`, '/api/v1rc1/clusters/-/instanceTypes']) {
      const reply = await http.send('GET', path, { headers: { authorization: '', ...headers } });
      expect(reply.status).toBe(401);
      expect(reply.headers['www-authenticate']).toBe('Bearer');
    }
  });

  it('gives the same error for a foreign account, whether it or the container exists', async () => {
    const replies = await Promise.all(
      ['three/accounts/yours', 'one/accounts/nobody', 'nowhere/accounts/mine'].map((scope) =>
        http.send('GET', `/api/v1rc1/clusters/${scope}/containers/c1`),
      ),
    );
    expect(replies.map(({ status }) => status)).toEqual([403, 403, 403]);
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
  });
});

describe('custom verbs', () => {
  it('are only those of the protocol: a POST on an ID does nothing', async () => {
    await http.send('POST', `${API}/volumes?volumeID=verb-1`, { body: '{}' });
    await http.send('DELETE', `${API}/volumes/verb-1`);
    for (const path of ['verb-1', 'verb-1:unknown', 'verb-1:undelete:undelete', 'verb-1:']) {
      expect((await http.send('POST', `${API}/volumes/${path}`)).status, path).toBe(404);
    }
    expect((await http.send('POST', `${API}/volumes/verb-1:undelete`)).status).toBe(204);
    await http.send('DELETE', `${API}/volumes/verb-1`);
    expect((await http.send('POST', `${API}/volumes/verb-1%3Aundelete`)).status).toBe(204);
  });
});

describe('create', () => {
  it('accepts the ID in the body, and rejects two different IDs', async () => {
    const made = await http.send('POST', `${API}/containers`, {
      body: spec({ id: 'body-id', clusterID: '', image: null }),
    });
    expect(made.json()).toMatchObject({ id: 'body-id', clusterID: 'one', accountID: 'mine' });
    const both = await http.send('POST', `${API}/containers?containerID=a`, { body: spec({ id: 'b' }) });
    expect(both.status).toBe(400);
    const elsewhere = await http.send('POST', `${API}/containers`, { body: spec({ clusterID: 'two' }) });
    expect(elsewhere.json()).toMatchObject({ code: 400, details: [{ field: 'clusterID' }] });
  });

  it('chooses the cluster from the instance type', async () => {
    const path = '/api/v1rc1/clusters/-/accounts/mine/containers';
    const made = await http.send('POST', path, { body: JSON.stringify({ instanceType: 'other', command: ['true'] }) });
    expect(made.json()).toMatchObject({ clusterID: 'two' });
    const mounted = await http.send('POST', path, { body: spec({ volumeMounts: { v: '/v' } }) });
    expect(mounted.json()).toMatchObject({ code: 400, details: [{ reason: 'WILDCARD_NOT_ALLOWED' }] });
  });

  it('reports when an ID in use will be free', async () => {
    await http.send('POST', `${API}/containers?containerID=taken`, { body: spec({ command: ['sleep', '100'] }) });
    await http.send('POST', `${API}/containers/taken:cancel`);
    await expect.poll(async () => (await http.send('GET', `${API}/containers/taken`)).json().phase).toBe('Canceled');
    const again = await http.send('POST', `${API}/containers?containerID=taken`, { body: spec() });
    expect(again.status).toBe(409);
    expect(again.json()).toMatchObject({
      details: [{ phase: 'Canceled', freeTime: expect.stringMatching(/^\d{4}-/) }],
    });
  });

  it('passes the ports in environment variables and in arguments', async () => {
    const script = "echo $BAT_PORT_web_1 $1 $2; tr '\\0' '\\n' < /proc/$$/environ | grep -c ^BAT_PORT_web-1=";
    const command = ['sh', '-c', script, 'sh', '$BAT_PORT_web-1', '$(BAT_PORT_web-1)'];
    const made = await http.send('POST', `${API}/containers?containerID=ports`, {
      body: spec({ command, ports: { 'web-1': {} } }),
    });
    const { port } = (made.json().ports as Record<string, { port: number }>)['web-1']!;
    const log = await http.send('GET', `${API}/containers/ports/logs?follow=true`);
    expect(log.text).toBe(`${port} ${port} ${port}\n1\n`);
  });
});

describe('parameters', () => {
  it.each([
    'pageSize=0',
    'pageSize=-1',
    'pageSize=ten',
    'pageSize=1&pageSize=2',
    'all=yes',
    'nextPageToken=nonsense',
    'pagesize=1',
  ])('%s is rejected', async (query) => {
    const reply = await http.send('GET', `${API}/containers?${query}`);
    expect(reply.status).toBe(400);
    expect(reply.json()).toMatchObject({
      code: 400,
      status: 'INVALID_ARGUMENT',
      details: [{ reason: expect.any(String) }],
    });
  });

  it('a page token of another list is rejected', async () => {
    for (const id of ['t1', 't2']) await http.send('POST', `${API}/volumes?volumeID=${id}`, { body: '{}' });
    const page = await http.send('GET', `${API}/volumes?pageSize=1`);
    const token = String(page.json().nextPageToken);
    expect((await http.send('GET', `${API}/volumes?nextPageToken=${token}`)).status).toBe(200);
    expect((await http.send('GET', `${API}/containers?nextPageToken=${token}`)).status).toBe(400);
  });
});

describe('bodies', () => {
  it.each([
    ['deeply nested', `{"instanceType":${'['.repeat(100_000)}`],
    ['not UTF-8', Buffer.from('7b22ff223a317d', 'hex')],
    ['empty', ''],
    ['an array', '[]'],
    ['a string', '"x"'],
    ['with a twin of prototypes', '{"__proto__":{"instanceType":"small"}}'],
    ['with trailing text', `${JSON.stringify({ instanceType: 'small' })} x`],
  ])('one that is %s is rejected', async (_, body) => {
    const reply = await http.send('POST', `${API}/containers`, { body });
    expect(reply.status).toBe(400);
    expect(reply.json().code).toBe(400);
  });

  it('compressed ones and other types are rejected unread', async () => {
    const gzip = await http.send('POST', `${API}/containers`, {
      body: spec(),
      headers: { 'content-encoding': 'gzip' },
    });
    expect(gzip.status).toBe(400);
    const xml = await http.send('POST', `${API}/containers`, { body: '<a/>', headers: { 'content-type': 'text/xml' } });
    expect(xml.status).toBe(400);
  });

  it('one that is too large is rejected', async () => {
    const body = spec({ labels: { a: 'x'.repeat(17_000_000) } });
    const reply = await http.send('POST', `${API}/containers`, { body }).catch(() => undefined);
    // The connection may be closed while the rest is being sent.
    if (reply !== undefined) expect(reply.status).toBe(413);
  });
});

describe('operations', () => {
  it('healthz, readyz, metrics and openapi.json answer without a token', async () => {
    const headers = { authorization: '' };
    expect((await http.send('GET', '/healthz', { headers })).status).toBe(200);
    expect((await http.send('GET', '/readyz', { headers })).json()).toEqual({
      ready: true,
      store: 'ready',
      engines: { one: 'ready', two: 'ready', three: 'ready' },
      storages: { one: 'ready', two: 'ready', three: 'ready' },
    });
    const metrics = await http.send('GET', '/metrics', { headers });
    expect(metrics.text).toContain('sluice_requests_total{operation="createContainer",status="200"}');
    const described = (kind: string) =>
      [...metrics.text.matchAll(new RegExp(`^# ${kind} (\\S+) .`, 'gm'))].map(([, name]) => name);
    expect(described('HELP')).toEqual(described('TYPE'));
    expect((await http.send('GET', '/openapi.json', { headers })).json()).toMatchObject({ openapi: '3.1.0' });
  });
});

const OBSERVED = new URL('../../../../../shared/data/api/observed-client-requests.json', import.meta.url);
interface Recorded {
  readonly request: { method: 'GET' | 'POST' | 'DELETE'; url: string; headers: Record<string, string>; body: string };
}

describe.skipIf(!existsSync(OBSERVED) && process.env.CI !== 'true')('requests that a published client sends', () => {
  it('are served as recorded', async () => {
    const { recorded } = JSON.parse(readFileSync(OBSERVED, 'utf8')) as { recorded: Recorded[] };
    expect(recorded.length).toBeGreaterThan(5);
    for (const { request } of recorded) {
      // Replace the names of the recorded stub by those of the rig.
      const path = request.url.replace('/N1/', '/one/').replace('/acc1/', '/mine/');
      const body = request.body
        .replace('a%40example.org', 'ada%40example.org')
        .replace(/password=\w+/, `password=${MD5_OF_PASSWORD}`);
      const { authorization: _, 'content-length': __, ...headers } = request.headers;
      const reply = await http.send(request.method, path, { headers, ...(body === '' ? {} : { body }) });
      expect(reply.status, `${request.method} ${path}: ${reply.text}`).toBe(request.method === 'DELETE' ? 204 : 200);
    }
  });
});
