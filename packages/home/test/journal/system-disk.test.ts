import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replaceFile } from '@sluice/host-system';
import { expect, onTestFinished, test } from 'vitest';
import { createSystemDisk } from '../../src/journal/system-disk.ts';

test('list leaves out the incomplete file of a process that was killed while it replaced another one', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-disk-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'state.json');
  await replaceFile(file, '{}', {
    beforeReplacing: async () => {
      const [name] = readdirSync(directory);
      cpSync(join(directory, name!), join(directory, name!.replace('state', 'killed')));
    },
  });
  expect(readdirSync(directory)).toHaveLength(2);
  expect(await createSystemDisk().list(directory)).toEqual(['state.json']);
});
