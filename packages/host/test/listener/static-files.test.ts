import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fastify from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addStaticFiles, readStaticFiles } from '../../src/listener/static-files.ts';

let root: string;
const server = fastify();

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'sluice-static-'));
  writeFileSync(join(root, 'secret'), 'secret');
  const files = join(root, 'files');
  mkdirSync(join(files, 'assets'), { recursive: true });
  writeFileSync(join(files, 'index.html'), '<p>page</p>');
  writeFileSync(join(files, 'assets/app-1a2b.js'), 'run()');
  writeFileSync(join(files, 'data.bin'), 'bytes');
  symlinkSync(join(root, 'secret'), join(files, 'link'));
  addStaticFiles(server, readStaticFiles(files));
});

afterAll(async () => {
  await server.close();
  rmSync(root, { recursive: true });
});

test.each([
  ['/index.html', '<p>page</p>', 'text/html; charset=utf-8', 'no-cache'],
  ['/assets/app-1a2b.js', 'run()', 'text/javascript; charset=utf-8', 'private, max-age=31536000, immutable'],
  ['/data.bin?x=1', 'bytes', 'application/octet-stream', 'no-cache'],
  ['/', '<p>page</p>', 'text/html; charset=utf-8', 'no-cache'],
  // Neither a file nor a screen.
  ['/other', '<p>page</p>', 'text/html; charset=utf-8', 'no-cache'],
  ['/runs/../other', '<p>page</p>', 'text/html; charset=utf-8', 'no-cache'],
])('%s is served', async (url, body, type, cache) => {
  const reply = await server.inject(url);
  expect(reply.statusCode).toBe(200);
  expect([reply.body, reply.headers['content-type'], reply.headers['cache-control']]).toEqual([body, type, cache]);
});

test.each([
  ['/runs', './#/runs'],
  ['/runs/abc', '../#/runs/abc'],
  ['/runs/a%20b/steps/c?x=1', '../../../#/runs/a%20b/steps/c'],
  ['/runs/%0d%0aset-cookie:x', '../#/runs/%0D%0Aset-cookie:x'],
])('%s leads to its screen', async (url, to) => {
  const reply = await server.inject(url);
  expect([reply.statusCode, reply.headers.location]).toEqual([303, to]);
});

test.each(['/missing.js', '/api/sluice/v1/nothing', '/../secret.txt', '/%2e%2e/secret.txt'])(
  '%s is not found',
  async (url) => {
    const reply = await server.inject(url);
    expect(reply.statusCode).toBe(404);
    expect(reply.json()).toMatchObject({ status: 'NOT_FOUND' });
  },
);

test('only regular files that were read before are served', async () => {
  expect((await server.inject('/link')).body).toBe('<p>page</p>');
  expect((await server.inject('/..%2fsecret')).body).not.toContain('secret');
});
