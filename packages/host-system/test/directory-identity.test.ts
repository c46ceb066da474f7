import { mkdirSync, mkdtempSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { directoryIdentity } from '../src/directory-identity.ts';

const TRIES = 200;

describe('directoryIdentity', () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'sluice-identity-'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  test('is the same for every path of a directory', async () => {
    expect(await directoryIdentity(root)).toBe(await directoryIdentity(join(root, '..', root.split('/').at(-1)!)));
  });

  test('is another one for a directory that gets the inode of a removed one', async ({ skip }) => {
    const first = join(root, 'first');
    mkdirSync(first);
    const { ino } = statSync(first);
    const identity = await directoryIdentity(first);
    rmdirSync(first);
    const again = makeWithInode(ino);
    skip(again === undefined, 'this file system does not give the inode of a removed directory again');
    expect(await directoryIdentity(again!)).not.toBe(identity);
  });

  function makeWithInode(ino: number): string | undefined {
    for (let tried = 0; tried < TRIES; tried++) {
      const directory = join(root, `again-${tried}`);
      mkdirSync(directory);
      if (statSync(directory).ino === ino) return directory;
    }
    return undefined;
  }
});
