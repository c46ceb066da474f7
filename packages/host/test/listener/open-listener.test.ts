import { request as sendRequest } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { addMetrics } from '../../src/listener/add-metrics.ts';
import { type Listener, openListener } from '../../src/listener/open-listener.ts';

const FILES = new Map([
  ['/index.html', { bytes: Buffer.from('<!doctype html><title>Sluice</title>'), type: 'text/html; charset=utf-8' }],
  ['/assets/main-1.js', { bytes: Buffer.from('void 0;'), type: 'text/javascript; charset=utf-8' }],
]);

let listener: Listener;
let actions: number;

beforeEach(async () => {
  actions = 0;
  listener = await openListener({
    ...{ host: '127.0.0.1', port: 0, files: FILES },
    async addRoutes(server) {
      addMetrics(server, async () => [{ name: 'sluice_x', type: 'gauge', help: 'X', samples: [{ value: 1 }] }]);
      server.get('/api/ping', async () => ({ pong: true }));
      server.post('/api/act', async () => ({ count: ++actions }));
    },
  });
});

afterEach(() => listener.close());

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** As any program can send it: `fetch` would not send a foreign `Host`. */
function send(
  path: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
) {
  const { hostname, port } = new URL(listener.url);
  return new Promise<Reply>((resolve, reject) => {
    const request = sendRequest({ hostname, port, path, method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, text }));
    });
    request.on('error', reject).end();
  });
}

interface BrowserSession {
  readonly cookie: string;
  /** Before the path of each request. */
  readonly place: string;
}

/** Uses a link as a browser does. */
async function login(): Promise<BrowserSession> {
  const { pathname, search } = new URL(listener.createLink());
  const { status, headers } = await send(`${pathname}${search}`);
  expect(status).toBe(303);
  const [, place] = /^(\/s\/[\w-]{43})\/$/.exec(headers.location as string) ?? [];
  const [cookie, path, ...flags] = (headers['set-cookie'] as string[])[0]!.split('; ');
  expect(cookie).toMatch(/^sluice-session-\d+=[\w-]{43}$/);
  expect([path, ...flags]).toEqual([`Path=${place}/`, 'HttpOnly', 'SameSite=Strict']);
  return { cookie: cookie!, place: place! };
}

const origin = () => new URL(listener.url).origin;

test('a link opens one session, whose cookie gives access to pages and API', async () => {
  const { cookie, place } = await login();
  expect(await send(`${place}/`, { headers: { cookie } })).toMatchObject({
    status: 200,
    text: expect.stringContaining('Sluice'),
  });
  const { headers } = await send(`${place}/runs/some-run`, { headers: { cookie } });
  expect(headers.location).toBe('../#/runs/some-run');
  expect((await send(`${place}/api/ping`, { headers: { cookie } })).text).toBe('{"pong":true}');
  const post = { method: 'POST', headers: { cookie, origin: origin(), 'sec-fetch-site': 'same-origin' } };
  expect((await send(`${place}/api/act`, post)).status).toBe(200);
});

test('neither the cookie, which other ports receive, nor the place, which a history has, is enough', async () => {
  const [{ cookie, place }, other] = [await login(), await login()];
  const post = { method: 'POST', headers: { cookie, origin: origin() } };
  for (const path of ['/', '/api/ping', `${other.place}/api/ping`, '/s/guess/api/ping', '/s//api/ping'])
    expect((await send(path, { headers: { cookie } })).status).toBe(401);
  expect((await send('/api/act', post)).status).toBe(401);
  expect((await send(`${place}/api/ping`)).status).toBe(401);
  expect((await send(`${place}/api/ping`, { headers: { cookie: other.cookie } })).status).toBe(401);
  expect(actions).toBe(0);
});

test('a link in a file leads to a page that the browser opens with its cookie', async () => {
  const { pathname, search } = new URL(listener.createLink());
  const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
  const opened = await send(`${pathname}${search}`, { headers });
  expect(opened).toMatchObject({
    status: 200,
    headers: { refresh: expect.stringMatching(/^0; url=\/s\/[\w-]{43}\/$/) },
  });
});

test.each([
  '//',
  '///',
  '//api/ping',
  '//[',
  '/%',
  '/%ff',
  '/s/',
  '/s/x/%',
  '/?token',
  '/?token=%',
  '/?%=%',
  '//?token=x',
  'http://',
  'http://[/',
  'http://elsewhere/api/ping',
  '*',
  '/\\/x',
  `/${'x'.repeat(9_000)}`,
])('the target %s is rejected without a session, and without a failure', async (path) => {
  expect([400, 401, 404]).toContain((await send(path)).status);
  const headers = { authorization: `Bearer ${listener.token}` };
  expect((await send(path, { headers })).status).toBeLessThan(500);
});

test('a link works once, and only with its token', async () => {
  const { search } = new URL(listener.createLink());
  expect((await send(`/${search}`)).status).toBe(303);
  const again = await send(`/${search}`);
  expect(again.status).toBe(401);
  expect(again.headers['set-cookie']).toBeUndefined();
  expect((await send('/?token=guess')).status).toBe(401);
});

test('a link never redirects to another host', async () => {
  const { search } = new URL(listener.createLink());
  const { headers } = await send(`//evil.example/${search}`);
  expect(headers.location ?? '/').toMatch(/^\/(?!\/)/);
});

test.each(['/', '/api/ping', '/assets/main-1.js', '/api/unknown'])(
  'without a session, %s is rejected',
  async (path) => {
    expect(await send(path)).toMatchObject({ status: 401, text: expect.stringContaining('sluice ui') });
    expect(
      (await send(path, { headers: { cookie: `sluice-session-${new URL(listener.url).port}=guess` } })).status,
    ).toBe(401);
    expect((await send(path, { headers: { authorization: 'Bearer guess' } })).status).toBe(401);
  },
);

test('a program uses a bearer token', async () => {
  const headers = { authorization: `Bearer ${listener.token}` };
  expect((await send('/api/ping', { headers })).status).toBe(200);
  expect((await send('/api/act', { method: 'POST', headers })).status).toBe(200);
  expect(actions).toBe(1);
});

describe('requests of other origins are rejected even with a session', () => {
  const foreign = (): [string, Record<string, string>][] => [
    ['a name that resolves to this address', { host: 'evil.example' }],
    ['that name with our port', { host: `evil.example:${new URL(listener.url).port}` }],
    ['another port', { host: '127.0.0.1:1' }],
    ['a page of another site', { origin: 'https://evil.example' }],
    ['a page of another port', { origin: 'http://127.0.0.1:1' }],
    ['a sandboxed page', { origin: 'null' }],
    ['a foreign page as the browser marks it', { origin: origin(), 'sec-fetch-site': 'cross-site' }],
    ['another port as the browser marks it', { origin: origin(), 'sec-fetch-site': 'same-site' }],
    ['no origin', {}],
  ];
  test.each(Array.from({ length: 9 }, (_, index) => index))('case %i', async (index) => {
    const { cookie, place } = await login();
    const [, headers] = foreign()[index]!;
    expect((await send(`${place}/api/act`, { method: 'POST', headers: { cookie, ...headers } })).status).toBe(403);
    expect(actions).toBe(0);
  });

  test('a foreign page cannot read either', async () => {
    const { cookie, place } = await login();
    const headers = { cookie, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' };
    expect((await send(`${place}/api/ping`, { headers })).status).toBe(403);
    expect((await send(`${place}/`, { headers: { ...headers, host: 'evil.example' } })).status).toBe(403);
  });
});

test('every reply forbids inline scripts, frames and guessing of types', async () => {
  for (const path of ['/', '/api/ping', '/api/unknown', listener.createLink().slice(listener.url.length - 1)]) {
    const { headers } = await send(path);
    expect(headers['content-security-policy']).toMatch(
      /default-src 'none'; script-src 'self';.*frame-ancestors 'none'/,
    );
    expect(headers['content-security-policy']).not.toContain('unsafe');
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
    expect(headers['access-control-allow-origin']).toBeUndefined();
  }
});

test('no path leads out of the files', async () => {
  const { cookie, place } = await login();
  for (const path of [
    '/assets/../../package.json',
    '/..%2f..%2fpackage.json',
    '/%2e%2e/package.json',
    '/assets/none.js',
  ]) {
    expect((await send(`${place}${path}`, { headers: { cookie } })).status).toBe(404);
  }
});

test('another address than loopback is rejected', async () => {
  const options = { port: 0, files: FILES, addRoutes: async () => {} };
  for (const host of ['0.0.0.0', '::', '192.0.2.1', 'example.org']) {
    await expect(openListener({ ...options, host })).rejects.toThrow('it is not a loopback address');
  }
});

test('the metrics need no session, but no page of another origin can read them', async () => {
  expect(await send('/metrics')).toMatchObject({
    status: 200,
    text: '# HELP sluice_x X\n# TYPE sluice_x gauge\nsluice_x 1\n',
  });
  expect((await send('/metrics', { headers: { host: 'example.org' } })).status).toBe(403);
  expect((await send('/metrics', { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(403);
});

describe('a path in another form', () => {
  const variants = [
    ...['/api/ping', '//api/ping', '/api//ping', '/api/ping/', '/./api/ping', '/metrics/../api/ping', '/api%2fping'],
    ...['/%2fapi/ping', '/s/x//api/ping', '//s/x/api/ping', '/s/x/s/y/api/ping', '/', '//', '//assets/main-1.js'],
    ...['/metrics/../assets/main-1.js', '/metrics%2f..%2fassets/main-1.js', '/metrics;/../api/ping'],
  ];
  test.for(variants)('reaches no handler without a session or token: %s', async (path) => {
    const { status, text } = await send(path);
    expect([status, text.includes('pong') || text.includes('void') || text.includes('<title>')]).toEqual([401, false]);
  });

  test.for(['//api/ping', '/api//ping', '/api/ping/', '/s/x//api/ping'])('means the same: %s', async (path) => {
    const reply = await send(path, { headers: { authorization: `Bearer ${listener.token}` } });
    expect([reply.status, reply.text]).toEqual([200, '{"pong":true}']);
  });
});
