import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canonicalTarget } from '../../src/api/canonical-target.ts';
import { API_PREFIX } from '../../src/api/openapi.ts';
import { ROUTES } from '../../src/api/routes.ts';
import { SAME, sendTarget, VARIANTS } from './path-variants.ts';
import { API, openRawHttp, type RawHttp } from './raw-http.ts';

describe('canonicalTarget', () => {
  it.for([
    ['//user//api/login/?a=//b/', '/user/api/login?a=//b/'],
    ['/', '/'],
    ['http://host//api/', '/api'],
    ['HTTPS://host', '/'],
    ['*', '*'],
    ['///', '/'],
    ['/ui//', '/ui/'],
    ['//ui/one/mine/', '/ui/one/mine/'],
    ['/ui/one/mine/api/v1/runs/', '/ui/one/mine/api/v1/runs'],
    ['/a/../b/%2f//', '/a/../b/%2f'],
  ])('makes %s %s', ([from, to]) => {
    expect(canonicalTarget(from!)).toBe(to);
    expect(canonicalTarget(to!)).toBe(to);
  });
});

describe('a path in another form', () => {
  let http: RawHttp;
  beforeAll(async () => {
    http = await openRawHttp();
  });
  afterAll(() => http.close());

  const send = (method: string, target: string, headers: Record<string, string> = {}) =>
    sendTarget(http.url, { method, target, headers });

  const variants = Object.entries(VARIANTS);
  it.for(variants)('reaches no handler without authentication: %s', async ([name, variant]) => {
    const paths = ROUTES.map(({ method, path }) => ({ method, path: API_PREFIX + path.replace(/\{\w+\}/g, 'one') }));
    for (const { method, path } of paths) {
      const { status } = await send(method, variant(path));
      expect([method, path, status]).toEqual([method, path, SAME.has(name) ? 401 : expect.toBeOneOf([400, 401, 404])]);
    }
    for (const method of ['GET', 'PUT', 'PROPFIND', 'DELETE']) {
      const { status } = await send(method, variant('/dav/one/mine/v/file'));
      expect(status).toBeOneOf(SAME.has(name) ? [401] : [400, 401, 404]);
    }
  });

  it.for(variants.filter(([name]) => SAME.has(name)))('means the same: %s', async ([, variant]) => {
    const authorization = `Bearer ${http.token}`;
    const plain = await send('GET', `${API}/volumes`, { authorization });
    expect(plain.status).toBe(200);
    expect(await send('GET', variant(`${API}/volumes`), { authorization })).toEqual(plain);
    for (const path of ['/healthz', '/readyz', '/openapi.json']) {
      expect((await send('GET', variant(path))).status).toBe(200);
    }
  });

  it('serves volumes with repeated slashes, and no other one', async () => {
    const made = await http.send('POST', `${API}/volumes?volumeID=v`, { body: '{"service":{}}' });
    const { service } = made.json() as { service: { username: string; password: string } };
    const authorization = `Basic ${Buffer.from(`${service.username}:${service.password}`).toString('base64')}`;
    for (const path of ['/dav/one/mine/v/', '//dav/one/mine/v/', '///dav//one//mine/v//']) {
      expect((await send('PROPFIND', path, { authorization, depth: '0' })).status).toBe(207);
    }
    for (const path of ['/dav/one/mine/w/', '//dav/one/mine/v/../w/', '/dav/one/mine/v%2f..%2fw/']) {
      expect((await send('PROPFIND', path, { authorization, depth: '0' })).status).toBeOneOf([400, 404]);
    }
  });
});
