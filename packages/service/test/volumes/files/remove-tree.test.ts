import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openConfinedTree } from '../../../src/volumes/files/confined-tree.ts';
import { removeTree } from '../../../src/volumes/files/remove-tree.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

test('removeTree takes away names that are no UTF-8, which a look for them as text would never find', async () => {
  const root = temporaryDirectory();
  mkdirSync(join(root, 'tree/inner'), { recursive: true });
  const latin = (name: string) => Buffer.from(join(root, name), 'latin1');
  writeFileSync(latin('tree/café'), 'menu');
  mkdirSync(latin('tree/inner/naïve'));
  writeFileSync(latin('tree/inner/naïve/\xff'), '');
  expect(await removeTree(openConfinedTree(root), 'tree')).toBe(true);
  expect(existsSync(join(root, 'tree'))).toBe(false);
});

test('removeTree gives up on a directory in which something appears again and again', async () => {
  const root = temporaryDirectory();
  const path = join(root, 'tree');
  mkdirSync(path);
  // Each entry takes a turn of the event loop.
  let time = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (time += 1_000));
  onTestFinished(() => void vi.restoreAllMocks());
  let isWriting = true;
  const write = () => {
    if (!isWriting) return;
    setImmediate(write);
    for (const name of ['a', 'b']) writeFileSync(join(path, name), '');
  };
  write();
  try {
    await expect(removeTree(openConfinedTree(root), 'tree')).rejects.toMatchObject({ code: 'ENOTEMPTY' });
  } finally {
    isWriting = false;
  }
});
