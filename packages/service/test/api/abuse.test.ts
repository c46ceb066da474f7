import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROUTES } from '../../src/api/routes.ts';
import { API, openRawHttp, type RawHttp } from './raw-http.ts';

let http: RawHttp;
beforeAll(async () => {
  http = await openRawHttp();
});
afterAll(() => http.close());

/** The contents of every list. */
async function everything(): Promise<string> {
  const lists = await Promise.all(
    ['containers?all=true', 'volumes'].map(async (list) => (await http.send('GET', `${API}/${list}`)).text),
  );
  return lists.join('\n');
}

const SUITE = new URL('../../../../../shared/data/json-test-suite/test_parsing.tar.gz', import.meta.url).pathname;

describe.skipIf(!existsSync(SUITE) && process.env.CI !== 'true')('the JSON test suite', () => {
  it('as the body of every POST gives a 4xx with an error body and changes nothing', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'sluice-json-'));
    execFileSync('tar', ['-xzf', SUITE, '-C', directory]);
    const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.json'),
    );
    expect(names.length).toBe(149);
    const before = await everything();
    const paths = [
      `${API}/containers`,
      `${API}/volumes`,
      `${API}/containers/none:cancel`,
      `${API}/volumes/none:undelete`,
      '/user/api/login',
    ];
    for (const name of names) {
      const body = readFileSync(join(directory, name));
      for (const path of paths) {
        // `{}` and similar bodies are valid for creating a volume.
        if (path.endsWith('/volumes') && isEmptyObject(body)) continue;
        const { status, text } = await http.send('POST', path, { body });
        expect(status, `${name} to ${path}: ${text}`).toBeGreaterThanOrEqual(400);
        expect(status, `${name} to ${path}: ${text}`).toBeLessThan(500);
        expect(JSON.parse(text)).toMatchObject({ code: status, message: expect.any(String) });
        // An empty body is valid for the verbs.
        if (/(^|\/)n_/.test(name) && body.length > 0) expect(status, name).toBe(400);
      }
    }
    expect(await everything()).toBe(before);
    rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
  });
});

function isEmptyObject(body: Buffer): boolean {
  return body.length === 0 || /^\s*\{\s*\}\s*$/.test(body.toString());
}

describe('hostile requests', () => {
  it.each([
    '/api/v1rc1/clusters/one/accounts/mine/containers/a%00b',
    `${API}/containers/${'x'.repeat(400)}`,
    `${API}/containers/..%2f..%2fetc`,
    `${API}/containers/%ff`,
  ])('%s gives a 4xx with an error body', async (path) => {
    const { status, text } = await http.send('GET', path);
    expect([400, 404]).toContain(status);
    expect(JSON.parse(text)).toMatchObject({ code: status });
  });

  it.each([
    ['labels', '{"__proto__": "x"}', 'labels.__proto__'],
    ['volumeMounts', '{"__proto__": "/x"}', 'volumeMounts.__proto__'],
    ['ports', '{"__proto__": {}}', 'ports.__proto__'],
    ['envs', '{"A": "\\ud800"}', 'envs.A'],
    ['envs', '{"A\\udfff": "x"}', 'envs.A\udfff'],
    ['command', '["a", "\\ud800b"]', 'command.1'],
  ])('%s %s is rejected instead of passed on in changed form', async (field, json, path) => {
    const body = `{"instanceType": "small", "${field}": ${json}}`;
    const { status, text } = await http.send('POST', `${API}/containers`, { body });
    expect({ status, details: JSON.parse(text).details }).toEqual({
      status: 400,
      details: [{ reason: 'FIELD_INVALID', field: path }],
    });
  });

  it('a body full of names is rejected cheaply, and a long name is not repeated in the error', async () => {
    const names = Array.from({ length: 15_001 }, (_, i) => `"k${i}":1`).join();
    const { status, text } = await http.send('POST', `${API}/containers`, { body: `{${names}}` });
    expect({ status, text }).toMatchObject({ status: 400, text: expect.stringContaining('more than 15000 names') });
    const long = await http.send('POST', `${API}/containers`, {
      body: `{"instanceType":"small","${'k'.repeat(1e6)}":1}`,
    });
    expect(long.status).toBe(400);
    expect(long.text.length).toBeLessThan(1000);
  });

  it.each([`${API}/containers/%ff`, '/none', `${API}/containers`, `${API}/containers/none/logs`, '/healthz'])(
    'the reply to %s has a request ID and forbids caching and sniffing',
    async (path) => {
      const { headers } = await http.send('GET', path);
      expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  it('errors never contain paths of the host', async () => {
    const body = JSON.stringify({ instanceType: 'small', command: ['x'], volumeMounts: { 'v:../../etc:dir': '/x' } });
    for (const { text } of [await http.send('POST', `${API}/containers`, { body })])
      expect(text).not.toContain(tmpdir());
  });
});

describe('openapi.json', () => {
  it('has exactly the operations that the router serves', async () => {
    const document = (await http.send('GET', '/openapi.json')).json() as {
      paths: Record<string, Record<string, object>>;
    };
    const documented = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const routed = ROUTES.map(({ method, path }) => `${method} /api/v1rc1${path}`);
    expect(documented.sort()).toEqual([...routed, 'POST /user/api/login'].sort());
    // Each documented operation is served: without a token it fails for that reason, not as an unknown path.
    for (const { method, path } of ROUTES) {
      const concrete = `/api/v1rc1${path.replaceAll(/\{\w+\}/g, 'x')}`;
      expect((await http.send(method, concrete, { headers: { authorization: '' } })).status, concrete).toBe(401);
    }
  });
});
