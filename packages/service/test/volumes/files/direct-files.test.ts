import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { isServiceError } from '@sluice/client';
import { describe, expect, test } from 'vitest';
import { createDirectFiles } from '../../../src/volumes/files/direct-files.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

async function textOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    return isServiceError(error) ? error.code : `not a ServiceError: ${error}`;
  }
  return 'none';
}

async function* pieces(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

/** A volume beside a file that nobody who uses the volume may see. */
function volumeBesideSecret() {
  const directory = temporaryDirectory();
  const root = join(directory, 'volume');
  mkdirSync(root);
  mkdirSync(join(directory, 'outside'));
  writeFileSync(join(directory, 'outside', 'secret'), 'secret');
  return { root, outside: join(directory, 'outside'), files: createDirectFiles(root) };
}

describe('createDirectFiles', () => {
  test('write makes directories, replaces whole files and leaves no temporary file', async () => {
    const { root, files } = volumeBesideSecret();
    await files.write('a/b/c.txt', Buffer.from('one'));
    await files.write('a/b/c.txt', pieces('tw', 'o'), { size: 3 });
    expect(await textOf(await files.read('a/b/c.txt'))).toBe('two');
    expect(readdirSync(join(root, 'a/b'))).toEqual(['c.txt']);
    expect(await files.stat('a/b/c.txt')).toMatchObject({ path: 'a/b/c.txt', kind: 'file', size: 3 });
  });

  test('write rejects a body of another size and keeps the old file', async () => {
    const { root, files } = volumeBesideSecret();
    await files.write('f', Buffer.from('old'));
    expect(await codeOf(files.write('f', pieces('new and long'), { size: 3 }))).toBe('INVALID_ARGUMENT');
    expect(readFileSync(join(root, 'f'), 'utf8')).toBe('old');
    expect(readdirSync(root)).toEqual(['f']);
  });

  test('write keeps the old file when the body breaks off', async () => {
    const { root, files } = volumeBesideSecret();
    await files.write('f', Buffer.from('old'));
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('ne');
      throw new Error('connection lost');
    }
    expect(await codeOf(files.write('f', broken()))).toBe('UNAVAILABLE');
    expect(readFileSync(join(root, 'f'), 'utf8')).toBe('old');
    expect(readdirSync(root)).toEqual(['f']);
  });

  test('write sets and keeps the executable bit', async () => {
    const { root, files } = volumeBesideSecret();
    await files.write('run', Buffer.from('#!/bin/sh'), { executable: true });
    await files.write('run', Buffer.from('#!/bin/sh -e'));
    expect(statSync(join(root, 'run')).mode & 0o777).toBe(0o755);
  });

  test('read gives ranges of small and large files', async () => {
    const { root, files } = volumeBesideSecret();
    const large = Buffer.alloc(3_000_000, 'abcdefghij');
    writeFileSync(join(root, 'large'), large);
    expect(await textOf(await files.read('large'))).toBe(large.toString());
    expect(await textOf(await files.read('large', { start: 999_995, end: 1_999_999 }))).toBe(
      large.subarray(999_995, 1_999_999).toString(),
    );
    expect(await textOf(await files.read('large', { start: 2_999_998, end: 9e9 }))).toBe('ij');
    expect(await textOf(await files.read('large', { start: 9e9 }))).toBe('');
  });

  test('list is sorted, shows links as such, and of those that leave nothing but their target', async () => {
    const { root, outside, files } = volumeBesideSecret();
    await files.write('d/b', Buffer.from('12'));
    await files.makeDirectory('d/a');
    symlinkSync('b', join(root, 'd/inside'));
    symlinkSync(outside, join(root, 'd/out'));
    symlinkSync('../../outside/secret', join(root, 'd/up'));
    symlinkSync('nothing', join(root, 'd/dangling'));
    const listed = await files.list('d');
    expect(listed.map(({ path, kind, size, link }) => `${path} ${kind} ${size} ${link ?? ''}`)).toEqual([
      'd/a dir 0 ',
      'd/b file 2 ',
      'd/dangling file 0 nothing',
      'd/inside file 2 b',
      `d/out file 0 ${outside}`,
      'd/up file 0 ../../outside/secret',
    ]);
    expect(await codeOf(files.list('absent'))).toBe('NOT_FOUND');
  });

  test('move renames, makes directories, and replaces nothing', async () => {
    const { root, files } = volumeBesideSecret();
    await files.write('run/a1/out/f', Buffer.from('x'));
    await files.move('run/a1/out', 'run/out/step/model');
    expect(readFileSync(join(root, 'run/out/step/model/f'), 'utf8')).toBe('x');
    expect(await codeOf(files.move('run/a1/out', 'elsewhere'))).toBe('NOT_FOUND');
    await files.makeDirectory('run/a1/out');
    expect(await codeOf(files.move('run/a1/out', 'run/out/step/model'))).toBe('ALREADY_EXISTS');
    expect(await codeOf(files.move('run', 'run/x'))).toBe('INVALID_ARGUMENT');
  });

  test('remove takes down trees of any depth, does not follow links, and repeats', async () => {
    const { root, outside, files } = volumeBesideSecret();
    execFileSync('sh', ['-c', 'i=0; while [ $i -lt 700 ]; do mkdir d; cd d; echo x > f; i=$((i+1)); done'], {
      cwd: root,
    });
    symlinkSync(outside, join(root, 'd/d/link'));
    await files.remove('d');
    await files.remove('d');
    expect(readdirSync(root)).toEqual([]);
    expect(existsSync(join(outside, 'secret'))).toBe(true);
  });

  test('stat of nothing is undefined, read of nothing is NOT_FOUND', async () => {
    const { files } = volumeBesideSecret();
    expect(await files.stat('a/b')).toBeUndefined();
    expect(await files.stat('')).toMatchObject({ path: '', kind: 'dir' });
    expect(await codeOf(files.read('a'))).toBe('NOT_FOUND');
    expect(await codeOf(files.read(''))).toBe('INVALID_ARGUMENT');
  });

  test.each([
    '/a',
    'a/',
    'a//b',
    '.',
    '..',
    'a/../b',
    './a',
    'a\0b',
    `a/${'x'.repeat(256)}`,
    '\ud800',
    'x/'.repeat(2000),
  ])('every method rejects the path %j', async (path) => {
    const { files } = volumeBesideSecret();
    const calls = [
      files.stat(path),
      files.list(path),
      files.read(path),
      files.write(path, Buffer.from('')),
      files.makeDirectory(path),
      files.move(path, 'b'),
      files.move('b', path),
      files.remove(path),
    ];
    expect(await Promise.all(calls.map(codeOf))).toEqual(calls.map(() => 'INVALID_ARGUMENT'));
  });

  test.each(['link', 'chain', 'deep/link'])('nothing leaves the volume through %s', async (name) => {
    const { root, outside, files } = volumeBesideSecret();
    mkdirSync(join(root, 'deep'));
    symlinkSync(outside, join(root, 'link'));
    symlinkSync('link', join(root, 'chain'));
    symlinkSync('../../outside', join(root, 'deep/link'));
    expect(await files.stat(`${name}/secret`)).toBeUndefined();
    expect(await codeOf(files.read(`${name}/secret`))).not.toBe('none');
    expect(await codeOf(files.list(name))).not.toBe('none');
    expect(await codeOf(files.write(`${name}/new`, Buffer.from('x')))).not.toBe('none');
    expect(await codeOf(files.write(`${name}/a/b/new`, Buffer.from('x')))).not.toBe('none');
    expect(await codeOf(files.makeDirectory(`${name}/new`))).not.toBe('none');
    expect(await codeOf(files.move(`${name}/secret`, 'got'))).not.toBe('none');
    await files.write('mine', Buffer.from('x'));
    expect(await codeOf(files.move('mine', `${name}/new`))).not.toBe('none');
    // Whether something is out there must not be told by the kind of the error either.
    expect(await codeOf(files.read(`${name}/absent/secret`))).toBe(await codeOf(files.read(`${name}/secret`)));
    expect(readdirSync(outside)).toEqual(['secret']);
  });

  test('a link that stays inside is followed, also through others', async () => {
    const { root, files } = volumeBesideSecret();
    await files.write('models/m3/weights', Buffer.from('w'));
    symlinkSync('m3', join(root, 'models/latest'));
    symlinkSync('models/../models/latest', join(root, 'best'));
    expect(await textOf(await files.read('best/weights'))).toBe('w');
    await files.write('best/notes', Buffer.from('n'));
    expect(readFileSync(join(root, 'models/m3/notes'), 'utf8')).toBe('n');
    symlinkSync('circle', join(root, 'circle'));
    expect(await files.stat('circle/x')).toBeUndefined();
  });

  test('read rejects a FIFO instead of waiting for its writer', async () => {
    const { root, files } = volumeBesideSecret();
    execFileSync('mkfifo', [join(root, 'fifo')]);
    expect(await codeOf(files.read('fifo'))).toBe('INVALID_ARGUMENT');
  });

  test('a directory swapped for a link and back never lets a read or write out', async () => {
    const { root, outside, files } = volumeBesideSecret();
    mkdirSync(join(root, 'real'));
    writeFileSync(join(root, 'real', 'secret'), 'public');
    const loop = 'while :; do rm -f d; mv real d 2>/dev/null; mv d real; ln -s "$1" d; done';
    const child = spawn('sh', ['-c', loop, 'sh', outside], { cwd: root, stdio: 'ignore', detached: true });
    const ended = new Promise((resolve) => child.on('close', resolve));
    try {
      const end = performance.now() + 1_500;
      let reads = 0;
      while (performance.now() < end) {
        for (let round = 0; round < 200; round += 1) {
          const text = await files.read('d/secret').then(textOf, () => 'rejected');
          expect(['public', 'rejected']).toContain(text);
          await files.write('d/planted', Buffer.from('x')).catch(() => undefined);
          reads += 1;
        }
        await new Promise(setImmediate);
      }
      expect(reads).toBeGreaterThan(0);
    } finally {
      process.kill(-(child.pid as number), 'SIGKILL');
      await ended;
    }
    expect(readdirSync(outside)).toEqual(['secret']);
  });

  test('stat and move do not wait for the thread pool', async () => {
    const { files } = volumeBesideSecret();
    await files.makeDirectory('runs/r/step/a1');
    await files.makeDirectory('runs/r/out/step');
    for (let index = 0; index < 100; index += 1) await files.makeDirectory(`runs/r/step/a1/o${index}`);
    // The event loop does not turn while only resolved promises are awaited.
    let turns = 0;
    const immediate = setImmediate(() => {
      turns += 1;
    });
    for (let index = 0; index < 100; index += 1) {
      await files.move(`runs/r/step/a1/o${index}`, `runs/r/out/step/o${index}`);
      await files.stat(`runs/r/out/step/o${index}`);
    }
    clearImmediate(immediate);
    expect(turns).toBe(0);
  });

  test('a directory without rights answers PERMISSION_DENIED to an ordinary user', async ({ skip }) => {
    skip(process.getuid?.() === 0, 'root is not rejected');
    const { root, files } = volumeBesideSecret();
    await files.write('d/f', Buffer.from('x'));
    chmodSync(join(root, 'd'), 0);
    expect(await codeOf(files.read('d/f'))).toBe('PERMISSION_DENIED');
    chmodSync(join(root, 'd'), 0o700);
    unlinkSync(join(root, 'd/f'));
  });
});
