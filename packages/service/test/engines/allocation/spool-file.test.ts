import { appendFileSync, chownSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSpool, tailSpool } from '../../../src/engines/allocation/spool-file.ts';

describe('a spool file', () => {
  let directory: string;
  let path: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'sluice-spool-'));
    path = join(directory, 'orders');
    writeFileSync(path, '');
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  test('gives each complete line once', async () => {
    const tail = tailSpool(path);
    appendFileSync(path, 'one\ntwo\nthr');
    expect(await tail.read()).toEqual(['one', 'two']);
    expect(await tail.read()).toEqual([]);
    appendFileSync(path, 'ee\n');
    expect(await tail.read()).toEqual(['three']);
  });

  test('gives lines that are longer than one read, and letters that are split between two', async () => {
    const tail = tailSpool(path);
    const long = 'ä'.repeat(3 * 2 ** 20);
    appendFileSync(path, `x${long}\n`);
    const read: string[] = [];
    for (let calls = 0; calls < 4; calls++) read.push(...(await tail.read()));
    expect(read).toEqual([`x${long}`]);
  });

  test('a new writer ends the line that a killed one has begun', async () => {
    appendFileSync(path, 'complete\nbeg');
    const writer = openSpool(path);
    await Promise.all([writer.append('a\n'), writer.append('b\nc\n')]);
    expect(readFileSync(path, 'utf8')).toBe('complete\nbeg\na\nb\nc\n');
  });

  test.runIf(process.geteuid?.() === 0)(
    'is read also after it was given to another user with its directory',
    async () => {
      const tail = tailSpool(path);
      await tail.read();
      chownSync(path, 65_534, 65_534);
      await expect(tail.read()).rejects.toThrow('not a file of user 0');
      chownSync(directory, 65_534, 65_534);
      appendFileSync(path, 'theirs\n');
      expect(await tail.read()).toEqual(['theirs']);
    },
  );

  test('is read and written through no link, and empty while it does not exist', async () => {
    const link = join(directory, 'link');
    symlinkSync(path, link);
    await expect(tailSpool(link).read()).rejects.toThrow();
    await expect(openSpool(link).append('a\n')).rejects.toThrow();
    expect(await tailSpool(join(directory, 'missing')).read()).toEqual([]);
    await expect(openSpool(join(directory, 'missing')).append('a\n')).rejects.toThrow();
  });
});
