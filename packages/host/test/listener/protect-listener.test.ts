import { type FastifyInstance, fastify } from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { protectListener, withoutPlace } from '../../src/listener/protect-listener.ts';
import { createSessions, type Sessions } from '../../src/listener/sessions.ts';

const HOST = '127.0.0.1:7380';
let server: FastifyInstance;
let sessions: Sessions;
let used: string[];

beforeEach(async () => {
  used = [];
  sessions = createSessions();
  server = fastify({ rewriteUrl: ({ url }) => withoutPlace(url!) });
  protectListener(server, { sessions, address: { port: 7380 }, onLinkUsed: (token) => void used.push(token) });
  server.get('/', async () => 'page');
  server.post('/act', async () => 'done');
  server.get('/icon', { config: { isPublic: true } }, async () => 'icon');
  await server.ready();
});
afterEach(() => server.close());

const ask = (url: string, headers: Record<string, string> = {}, method: 'GET' | 'POST' = 'GET') =>
  server.inject({ method, url, headers: { host: HOST, ...headers } });

/** What a browser has after it has opened a link. */
async function openBrowser() {
  const link = sessions.createLinkToken();
  const reply = await ask(`/?token=${link}`);
  const cookie = String(reply.headers['set-cookie']).split(';')[0]!;
  return { link, reply, cookie, place: String(reply.headers.location) };
}

test('a link opens a session at its place, once', async () => {
  const { link, reply, cookie, place } = await openBrowser();
  expect(reply.statusCode).toBe(303);
  expect(String(reply.headers['set-cookie'])).toMatch(/HttpOnly; SameSite=Strict$/);
  expect(used).toEqual([link]);
  expect((await ask(place, { cookie })).body).toBe('page');
  expect((await ask(`/?token=${link}`)).statusCode).toBe(401);
});

test('a cookie without its place, and a place without its cookie, open nothing', async () => {
  const [first, second] = [await openBrowser(), await openBrowser()];
  expect((await ask('/', { cookie: first.cookie })).statusCode).toBe(401);
  expect((await ask(first.place)).statusCode).toBe(401);
  expect((await ask(second.place, { cookie: first.cookie })).statusCode).toBe(401);
});

test('a program uses the token, which is no session', async () => {
  const authorization = `Bearer ${sessions.token}`;
  expect((await ask('/', { authorization })).body).toBe('page');
  expect((await ask('/act', { authorization }, 'POST')).body).toBe('done');
  expect((await ask('/', { authorization: 'Bearer x' })).statusCode).toBe(401);
});

test.each([
  ['another name of this address', { host: 'evil.example:7380' }],
  ['another port', { host: '127.0.0.1:80' }],
  ['a page of another site', { 'sec-fetch-site': 'cross-site' }],
  ['a page of another port', { 'sec-fetch-site': 'same-site' }],
  ['a page of another origin', { origin: 'http://evil.example' }],
])('a request for %s is rejected before its session is read', async (_, headers) => {
  const { cookie, place } = await openBrowser();
  expect((await ask(place, { cookie, ...headers })).statusCode).toBe(403);
});

test('a change needs an origin or a token', async () => {
  const { cookie, place } = await openBrowser();
  expect((await ask(`${place}act`, { cookie }, 'POST')).statusCode).toBe(403);
  expect((await ask(`${place}act`, { cookie, origin: `http://${HOST}` }, 'POST')).body).toBe('done');
});

test('every reply forbids frames and foreign scripts, and a public one needs no session', async () => {
  const reply = await ask('/icon');
  expect(reply.body).toBe('icon');
  expect(reply.headers).toMatchObject({ 'x-frame-options': 'DENY', 'x-content-type-options': 'nosniff' });
  expect(reply.headers['content-security-policy']).toContain("frame-ancestors 'none'");
});

test('a link with two slashes leads to no other host', async () => {
  const reply = await ask(`//evil.example/?token=${sessions.createLinkToken()}`);
  expect(String(reply.headers.location)).toMatch(/^\/s\/[\w-]+\/evil\.example\/$/);
});
