import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createMemoryDisk } from '../../../home/test/memory-disk.ts';
import { readExclusion } from '../../src/trees/read-exclusion.ts';
import { scanSource } from '../../src/trees/scan-source.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'sluice-exclude-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function write(...files: readonly string[]): void {
  for (const file of files) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), file);
  }
}

const ignoreFile = (text: string | Buffer) => writeFileSync(path.join(root, '.sluiceignore'), text);

const scan = (...exclude: readonly string[]) =>
  scanSource(root, {
    disk: createMemoryDisk(),
    home: '/home',
    now: Date.now(),
    ...(exclude.length > 0 && { exclude }),
  });

const filesWithout = async (...exclude: readonly string[]) => (await scan(...exclude)).files.map((file) => file.path);

describe('the syntax of gitignore', () => {
  test.each<[patterns: readonly string[], kept: readonly string[]]>([
    [['*.log'], ['a/b/run.txt', 'a/build/x', 'build/x', 'build/y/z', 'src/build']],
    [['/build'], ['a/b/run.log', 'a/b/run.txt', 'a/build/x', 'src/build', 'top.log']],
    [['build/'], ['a/b/run.log', 'a/b/run.txt', 'src/build', 'top.log']],
    [['build'], ['a/b/run.log', 'a/b/run.txt', 'top.log']],
    [['a/**'], ['build/x', 'build/y/z', 'src/build', 'top.log']],
    [
      ['**/b/*.txt', 'top.lo[!a]'],
      ['a/b/run.log', 'a/build/x', 'build/x', 'build/y/z', 'src/build'],
    ],
    [
      ['*.log', '!top.log'],
      ['a/b/run.txt', 'a/build/x', 'build/x', 'build/y/z', 'src/build', 'top.log'],
    ],
    // What is in an excluded directory cannot be included again; what is beside the excluded entries can.
    [['build/', '!build/x', 'a', 'src'], ['top.log']],
    [
      ['/build/*', '!/build/x', 'a', 'src'],
      ['build/x', 'top.log'],
    ],
    [
      ['*', '!*.log', '!*/'],
      ['a/b/run.log', 'top.log'],
    ],
  ])('%j keeps %j', async (patterns, kept) => {
    write('a/b/run.log', 'a/b/run.txt', 'a/build/x', 'build/x', 'build/y/z', 'src/build', 'top.log');
    expect(await filesWithout(...patterns)).toEqual(kept);
    ignoreFile(`# a comment\n\n${patterns.join('\r\n')}\n`);
    expect(await filesWithout()).toEqual(kept);
  });

  test('names are compared with their case, without normalization, and may begin with `#`, `!` or not be UTF-8', async () => {
    write('A.txt', 'a.txt', '#one', '!two', 'caf\u00e9', 'cafe\u0301');
    writeFileSync(Buffer.from(`${root}/caf\xe8`, 'latin1'), '');
    expect(await filesWithout('a.txt', 'caf\u00e9', '\\#one', '\\!two')).toEqual(['A.txt', 'cafe\u0301', 'caf\udce8']);
    ignoreFile(Buffer.from('caf\xe8\n', 'latin1'));
    expect(await filesWithout('[A-Z]*', '[[:lower:]].txt', 'cafe?')).toEqual(['!two', '#one', 'caf\u00e9']);
  });

  test('the patterns of the pipeline come after those of the file, which itself is never part of the source', async () => {
    write('a.log', 'b.log', 'deep/.sluiceignore', 'deep/a.txt');
    ignoreFile('*.log\n!.sluiceignore\n');
    expect(await filesWithout('!b.log')).toEqual(['b.log', 'deep/.sluiceignore', 'deep/a.txt']);
  });
});

describe('excluded entries', () => {
  test('do not change the digest, and neither do patterns that leave the same files', async () => {
    write('keep/a.txt');
    const { digest } = await scan();
    write('node_modules/x/index.js', 'keep/b.log');
    expect((await scan('node_modules/', '*.log')).digest).toBe(digest);
    ignoreFile('# an extra comment\n*.log\nnode_modules\n');
    expect((await scan()).digest).toBe(digest);
    expect((await scan('!*.log')).digest).not.toBe(digest);
  });

  test('are not opened, and no warning or error about them is shown', async () => {
    write('a.txt');
    execFileSync('mkfifo', [path.join(root, 'pipe')]);
    symlinkSync('/etc', path.join(root, 'out'));
    mkdirSync(path.join(root, 'deep'));
    symlinkSync('/etc', path.join(root, 'deep/out'));
    await expect(scan('pipe', 'deep')).rejects.toThrow('it has links that lead out of it: "out -> /etc"');
    const { files, warnings, links } = await scan('pipe', 'deep', 'out');
    expect({ files: files.map((file) => file.path), warnings, links }).toEqual({
      files: ['a.txt'],
      warnings: [],
      links: [],
    });
  });

  test('a link to a directory is no directory, and one to something excluded leads to nothing', async () => {
    write('data/big/x', 'data/a');
    symlinkSync('data', path.join(root, 'link'));
    symlinkSync('data/big', path.join(root, 'big-link'));
    symlinkSync('data/big/x', path.join(root, 'x-link'));
    const { links } = await scan('link/', 'big/');
    expect(links).toEqual([
      { path: 'big-link', target: 'data/big', reaches: undefined },
      { path: 'link', target: 'data', reaches: 'dir' },
      { path: 'x-link', target: 'data/big/x', reaches: undefined },
    ]);
    expect((await scan('*link')).links).toEqual([]);
  });

  test('a directory without other entries stays, and homes are never included again', async () => {
    write('logs/a.log', '.sluice/credentials/x');
    ignoreFile('!.sluice\n');
    const { files, emptyDirectories } = await scan('*.log', '!.sluice/**');
    expect({ files, emptyDirectories }).toEqual({ files: [], emptyDirectories: ['logs'] });
  });
});

describe('readExclusion rejects', () => {
  test.each<[text: string, message: RegExp]>([
    ['*.log\n  [a-\n', /^line 2 of its \.sluiceignore, " {2}\[a-", is not a valid pattern: its `\[` has no `\]`/],
    ['./build', /^line 1 of its \.sluiceignore, "\.\/build", is not a valid pattern: it has a part `\.` or `\.\.`/],
    ['!', /it names nothing/],
    ['a\\', /it ends with `\\`/],
    ['**/a/**/b/**/c/**/d', /it has more than 3 parts `\*\*`/],
    [`${'x'.repeat(1001)}`, /is not a valid pattern: it is longer than 1000 characters/],
    ['x\n'.repeat(1001), /^its \.sluiceignore has more than 1000 patterns; exclude whole directories$/],
    [`# ${'x'.repeat(64 * 1024)}`, /^its \.sluiceignore is larger than 64 KiB; exclude whole directories$/],
  ])('a file %#', async (text, message) => {
    ignoreFile(text);
    await expect(readExclusion(root, undefined)).rejects.toThrow(message);
  });

  test('a directory or a named pipe of the name `.sluiceignore`, and a link to itself', async () => {
    const file = path.join(root, '.sluiceignore');
    for (const make of [() => mkdirSync(file), () => execFileSync('mkfifo', [file])]) {
      make();
      await expect(readExclusion(root, undefined)).rejects.toThrow(
        'its .sluiceignore is not a file; remove or rename it',
      );
      rmSync(file, { recursive: true });
    }
    symlinkSync('.sluiceignore', file);
    await expect(readExclusion(root, undefined)).rejects.toThrow('ELOOP');
  });

  test('`exclude` for a source that is a file', async () => {
    write('a.txt');
    const file = path.join(root, 'a.txt');
    await expect(readExclusion(file, ['x'])).rejects.toThrow('it is a file, from which nothing can be excluded');
    expect((await readExclusion(file, undefined)).excludes('a.txt', false)).toBe(false);
  });
});
