import { chmodSync, chownSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { removeForGood } from '../../src/storage/remove-for-good.ts';
import { LOCAL_STORAGE } from '../../src/storage/storage-access.ts';
import { temporaryDirectory } from '../volumes/temporary-directory.ts';

const NOBODY = 65_534;

/** Root may change every directory, so the test runs as another user. */
function stopBeingRoot(owned: readonly string[]): void {
  if (process.geteuid?.() !== 0) return;
  for (const path of owned) chownSync(path, NOBODY, NOBODY);
  process.seteuid?.(NOBODY);
  onTestFinished(() => process.seteuid?.(0));
}

test('removeForGood removes read-only directories', async () => {
  const root = temporaryDirectory();
  const paths = ['', 'cache', 'cache/module', 'cache/closed'].map((path) => join(root, path));
  for (const path of paths.slice(1)) mkdirSync(path);
  for (const path of paths.slice(2)) writeFileSync(join(path, 'file'), '');
  const odd = Buffer.concat([Buffer.from(`${join(root, 'cache')}/`), Buffer.from([0xff])]);
  writeFileSync(odd, '');
  symlinkSync(root, join(root, 'cache/link'));
  writeFileSync(join(root, 'kept'), '');
  stopBeingRoot(paths);
  chmodSync(join(root, 'cache/module'), 0o555);
  chmodSync(join(root, 'cache/closed'), 0);
  chmodSync(join(root, 'cache'), 0o555);
  await removeForGood(join(root, 'cache'), LOCAL_STORAGE);
  expect(existsSync(join(root, 'cache'))).toBe(false);
  expect(existsSync(join(root, 'kept'))).toBe(true);
  await removeForGood(join(root, 'cache'), LOCAL_STORAGE);
});
