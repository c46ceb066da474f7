import { lstatSync, rmSync, type Stats, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { StorageSpace } from '../../src/volumes/storage-space.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const BYTES = 40_960;

function makeFile(name: string): { path: string; stats: Stats } {
  const path = join(temporaryDirectory(), name);
  writeFileSync(path, Buffer.alloc(BYTES, 1));
  return { path, stats: lstatSync(path) };
}

test('a measurement is not exact if a file is removed after it was counted, and the next one is', async () => {
  const space = new StorageSpace();
  const { path, stats } = makeFile('a');
  space.added(stats);
  const isExact = await space.measure(async (bytesOf) => {
    const found = bytesOf(stats);
    space.removed(stats);
    rmSync(path);
    return found;
  });
  expect({ isExact, bytes: space.bytes }).toEqual({ isExact: false, bytes: BYTES });
  expect(await space.measure(async () => 0)).toBe(true);
  expect(space.bytes).toBe(0);
});
