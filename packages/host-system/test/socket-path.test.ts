import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openSocketPath } from '../src/socket-path.ts';

test('openSocketPath returns the plain path if the kernel accepts its length', async () => {
  expect((await openSocketPath('/project/.sluice', 'service.sock')).path).toBe('/project/.sluice/service.sock');
});

test('openSocketPath of a deep directory reaches the socket opened by a short path to it', async () => {
  const root = mkdtempSync(join(tmpdir(), 'sluice-socket-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const deep = join(root, 'deep'.repeat(40));
  mkdirSync(deep);
  symlinkSync(deep, join(root, 'link'));
  const [short, long] = [
    await openSocketPath(join(root, 'link'), 'service.sock'),
    await openSocketPath(deep, 'service.sock'),
  ];
  const server = createServer((socket) => socket.end('here'));
  await new Promise<void>((resolve) => server.listen(short.path, resolve));
  const client = connect(long.path).setEncoding('utf8');
  expect(await client.toArray()).toEqual(['here']);
  await new Promise((resolve) => server.close(resolve));
  await Promise.all([short.close(), long.close()]);
});
