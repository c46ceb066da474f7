import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { socketPath } from '../../src/embedded/socket-path.ts';

test('socketPath lies in the home where the kernel takes so long a name', () => {
  expect(socketPath('/project/.sluice')).toBe('/project/.sluice/service.sock');
});

test('socketPath of a deep home is short, the same each time, and another for another home', () => {
  const deep = `/${'deep/'.repeat(30)}.sluice`;
  const path = socketPath(deep);
  expect(path.startsWith(join(tmpdir(), 'sluice-'))).toBe(true);
  expect(Buffer.byteLength(path)).toBeLessThanOrEqual(107);
  expect(socketPath(deep)).toBe(path);
  expect(socketPath(`${deep}2`)).not.toBe(path);
});
