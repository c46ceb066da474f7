import { mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scanSource } from '../../src/data/scan-source.ts';
import { createMemoryDisk } from '../simulation/memory-disk.ts';

test('scanSource reads a file again that was changed behind its time of modification', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-scan-'));
  const file = join(directory, 'data.csv');
  // As `cp -p` or a build that fixes all times leaves it: same size, same time, same inode.
  const write = (text: string) => {
    writeFileSync(file, text);
    utimesSync(file, 1_000_000_000, 1_000_000_000);
  };
  try {
    write('one');
    const { ino } = statSync(file);
    const options = { disk: createMemoryDisk(), home: '/home', now: Date.now() + 60_000 };
    const first = await scanSource(directory, options);
    expect(await scanSource(directory, options)).toEqual(first);
    write('two');
    expect(statSync(file).ino).toBe(ino);
    const second = await scanSource(directory, options);
    expect(second.files[0]?.sha256).not.toBe(first.files[0]?.sha256);
    expect(second.digest).not.toBe(first.digest);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('scanSource leaves the home out', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-scan-'));
  const home = join(directory, '.sluice');
  try {
    mkdirSync(join(home, 'credentials'), { recursive: true });
    writeFileSync(join(home, 'credentials', 'ws-1.json'), '{}');
    writeFileSync(join(directory, 'a.txt'), 'a');
    const { files } = await scanSource(directory, { disk: createMemoryDisk(), home, now: Date.now() });
    expect(files.map(({ path }) => path)).toEqual(['a.txt']);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
