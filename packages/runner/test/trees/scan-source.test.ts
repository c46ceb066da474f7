import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createMemoryDisk } from '../../../home/test/memory-disk.ts';
import { scanSource } from '../../src/trees/scan-source.ts';

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

/** Scans a directory that `fill` makes. */
async function scan(fill: (directory: string) => void) {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-scan-'));
  try {
    fill(directory);
    return await scanSource(directory, { disk: createMemoryDisk(), home: '/home', now: Date.now() });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Makes a home as Sluice does, with a login in it. */
function makeHome(home: string, mark?: string): void {
  mkdirSync(join(home, 'credentials'), { recursive: true });
  writeFileSync(join(home, 'credentials', 'ws-1.json'), '{}');
  if (mark !== undefined) writeFileSync(join(home, 'made-here'), mark);
}

test('scanSource leaves out the homes of other projects, and what only links lead to in them', async () => {
  const { files, links, emptyDirectories, warnings } = await scan((directory) => {
    makeHome(join(directory, 'one/.sluice'));
    writeFileSync(join(directory, 'one/data'), 'x');
    symlinkSync('one/.sluice/credentials/ws-1.json', join(directory, 'login'));
    symlinkSync('one/data', join(directory, 'data'));
    // Its home has another name, and the one of `three` is a link to it.
    makeHome(join(directory, 'two/state'), '131077-1700000000000000000\n');
    mkdirSync(join(directory, 'three'));
    makeHome(join(directory, 'shared'));
    symlinkSync('../shared', join(directory, 'three/.sluice'));
    symlinkSync('/etc', join(directory, 'two/.sluice'));
    // No home has such a mark.
    mkdirSync(join(directory, 'four'));
    writeFileSync(join(directory, 'four/made-here'), 'in the workshop\n');
  });
  expect(files.map(({ path }) => path)).toEqual(['four/made-here', 'one/data']);
  expect(links).toEqual([
    { path: 'data', target: 'one/data', reaches: 'file' },
    { path: 'login', target: 'one/.sluice/credentials/ws-1.json', reaches: undefined },
  ]);
  expect(emptyDirectories).toEqual(['three', 'two']);
  expect(warnings).toEqual(['left out two/state, a home of Sluice, which contains logins']);
});

test('scanSource rejects a source that is a home', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-scan-'));
  try {
    const [named, marked, own] = [join(directory, '.sluice'), join(directory, 'marked'), join(directory, 'own')];
    for (const home of [named, own]) makeHome(home);
    makeHome(marked, '131077-1700000000000000000\n');
    for (const home of [named, marked, own]) {
      const scanned = scanSource(home, { disk: createMemoryDisk(), home: own, now: Date.now() });
      await expect(scanned).rejects.toThrow('it is a home of Sluice, which contains logins; name another directory');
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('scanSource keeps links as links, whatever is at their end, and never walks through one', async () => {
  const { files, links, emptyDirectories, warnings } = await scan((directory) => {
    // Followed, these would be two to the power of nineteen directories.
    for (let index = 0; index < 19; index++) {
      mkdirSync(join(directory, `d${index}`));
      for (const link of ['l1', 'l2']) symlinkSync(`../d${index + 1}`, join(directory, `d${index}`, link));
    }
    mkdirSync(join(directory, 'd19'));
    writeFileSync(join(directory, 'd19/file'), 'x');
    symlinkSync('d19/file', join(directory, 'to-file'));
    symlinkSync('nowhere', join(directory, 'dangling'));
    symlinkSync('loop', join(directory, 'loop'));
    symlinkSync(join(directory, 'd19'), join(directory, 'd0/absolute'));
    symlinkSync('/gone/away', join(directory, 'gone'));
  });
  expect(files.map(({ path }) => path)).toEqual(['d19/file']);
  expect(links).toHaveLength(42);
  expect(links.filter(({ path }) => !/l[12]$/.test(path))).toEqual([
    { path: 'd0/absolute', target: '../d19', reaches: 'dir' },
    { path: 'dangling', target: 'nowhere', reaches: undefined },
    { path: 'loop', target: 'loop', reaches: undefined },
    { path: 'to-file', target: 'd19/file', reaches: 'file' },
  ]);
  expect(emptyDirectories).toEqual([]);
  expect(warnings).toEqual(['left out gone, a link to /gone/away, which does not exist']);
});

test('scanSource rejects links that lead out by their names, also where they do so through another', async () => {
  const scanned = scan((directory) => {
    symlinkSync('/etc', join(directory, 'etc'));
    symlinkSync('../..', join(directory, 'up'));
    symlinkSync('.', join(directory, 'here'));
  });
  await expect(scanned).rejects.toThrow(/links that lead out of it: "etc -> \/etc", "up -> \.\.\/\.\."; replace/);
});

test('scanSource names what is no file, keeps the directories around it, and leaves markers of results out', async () => {
  const { files, emptyDirectories, warnings } = await scan((directory) => {
    mkdirSync(join(directory, 'pipes'));
    execFileSync('mkfifo', [join(directory, 'pipes/fifo')]);
    mkdirSync(join(directory, 'empty'));
    mkdirSync(join(directory, 'result'));
    writeFileSync(join(directory, 'result/.sluice-result.json'), '{}');
    writeFileSync(join(directory, 'result/data'), '{}');
  });
  expect(files.map(({ path }) => path)).toEqual(['result/data']);
  expect(emptyDirectories).toEqual(['empty', 'pipes']);
  expect(warnings).toEqual(['left out pipes/fifo, which is a named pipe']);
});

test('scanSource tells names apart that are no UTF-8', async () => {
  const scanOf = (...bytes: readonly number[]) =>
    scan((directory) => {
      writeFileSync(Buffer.concat([Buffer.from(`${directory}/caf`), Buffer.from(bytes)]), 'x');
    });
  const [one, other, third] = await Promise.all([scanOf(0xe9), scanOf(0xe8), scanOf(0xe9)]);
  expect(one?.files.map(({ path }) => path)).toEqual(['caf\udce9']);
  expect(one?.digest).not.toBe(other?.digest);
  expect(one?.digest).toBe(third?.digest);
});
