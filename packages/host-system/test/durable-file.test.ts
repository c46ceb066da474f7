import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFile, isUnfinished, replaceFile, replaceFileSync } from '../src/durable-file.ts';

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-durable-'));
  file = join(directory, 'within', 'file');
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

const names = () => readdirSync(join(directory, 'within'));
const mode = () => statSync(file).mode & 0o777;

test('replaceFile creates directories, sets mode 0600, and leaves no temporary file', async () => {
  await replaceFile(file, 'first');
  await replaceFile(file, Buffer.from('second'));
  expect(readFileSync(file, 'utf8')).toBe('second');
  expect(mode()).toBe(0o600);
  expect(names()).toEqual(['file']);
});

test('replaceFile takes blocks while it writes, and keeps the old file if one cannot be made', async () => {
  await replaceFile(file, [Buffer.from('one '), Buffer.from('two')]);
  expect(readFileSync(file, 'utf8')).toBe('one two');
  function* failing(): Generator<Uint8Array> {
    yield Buffer.from('part');
    throw new Error('no more');
  }
  await expect(replaceFile(file, failing())).rejects.toThrow('no more');
  expect(readFileSync(file, 'utf8')).toBe('one two');
  expect(names()).toEqual(['file']);
});

test('replaceFile keeps the old file if beforeReplacing throws', async () => {
  await replaceFile(file, 'old', { mode: 0o644 });
  expect(mode()).toBe(0o644);
  const beforeReplacing = () => Promise.reject(new Error('rejected'));
  await expect(replaceFile(file, 'new', { beforeReplacing })).rejects.toThrow('rejected');
  expect(readFileSync(file, 'utf8')).toBe('old');
  expect(names()).toEqual(['file']);
});

test('isUnfinished knows what a process leaves that is killed while it replaces a file, and nothing else', async () => {
  await replaceFile(file, 'old');
  let during: string[] = [];
  const beforeReplacing = async () => {
    during = names();
  };
  await replaceFile(file, 'new', { beforeReplacing });
  expect(during).toHaveLength(2);
  expect(during.filter(isUnfinished)).toEqual(during.filter((name) => name !== 'file'));
  expect(['file', 'notes.new', '0123456789abcdef.new', 'plan.json'].filter(isUnfinished)).toEqual([]);
});

test('createFile succeeds for one of many callers', async () => {
  const created = await Promise.all(['a', 'b', 'c', 'd'].map((text) => createFile(file, text)));
  expect(created.filter(Boolean)).toHaveLength(1);
  expect(readFileSync(file, 'utf8')).toBe(['a', 'b', 'c', 'd'][created.indexOf(true)]);
  expect(names()).toEqual(['file']);
});

test('replaceFileSync replaces a whole file', () => {
  const path = join(directory, 'file');
  writeFileSync(path, 'a longer text than the next');
  replaceFileSync(path, 'short');
  expect(readFileSync(path, 'utf8')).toBe('short');
  expect(readdirSync(directory)).toEqual(['file']);
});
