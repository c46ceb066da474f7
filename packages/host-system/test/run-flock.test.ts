import { spawn } from 'node:child_process';
import { chmodSync, closeSync, linkSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { lockFile } from '../src/lock-file.ts';
import { runFlock } from '../src/run-flock.ts';

const COUNT = 100;
let directory: string;
let opened: number[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-flock-'));
  opened = [];
});

afterEach(() => {
  vi.unstubAllEnvs();
  for (const fd of opened) closeSync(fd);
  rmSync(directory, { recursive: true, force: true });
});

const files = () => Array.from({ length: COUNT }, (_, i) => join(directory, `${i}.lock`));

function open(file: string): number {
  const fd = openSync(file, 'a+');
  opened.push(fd);
  return fd;
}

const lockAll = (fds: readonly number[], isShared = false) => Promise.all(fds.map((fd) => runFlock(fd, { isShared })));

/** Puts a program before the real one of the same name. */
function replaceProgram(name: string, script: string): void {
  vi.stubEnv('PATH', `${directory}:${process.env.PATH}`);
  writeFileSync(join(directory, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(directory, name), 0o755);
}

test('runFlock locks files that are requested together with few programs', async () => {
  const log = join(directory, 'started');
  replaceProgram('sh', `echo x >> ${log}; exec /bin/sh "$@"`);
  const outcomes = await lockAll(files().map(open));
  expect(outcomes).toEqual(Array(COUNT).fill('taken'));
  // The first alone, then 64, then the others.
  expect(readFileSync(log, 'utf8')).toBe('x\nx\n');
});

test('runFlock reports each lock of a group that another process holds', async () => {
  const paths = files();
  const holder = spawn('flock', ['--no-fork', paths[70]!, 'sh', '-c', 'echo held; exec sleep 600'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => holder.stdout.once('data', resolve));
  const fds = paths.map(open);
  const expected = Array(COUNT).fill('taken');
  expected[70] = 'held';
  expect(await lockAll(fds)).toEqual(expected);
  const ended = new Promise((resolve) => holder.once('close', resolve));
  holder.kill('SIGKILL');
  await ended;
  expect(await runFlock(fds[70]!, { isShared: false })).toBe('taken');
});

test('runFlock: shared locks of a group exclude only exclusive ones', async () => {
  const paths = files();
  expect(await lockAll(paths.map(open), true)).toEqual(Array(COUNT).fill('taken'));
  expect(await lockAll(paths.map(open), true)).toEqual(Array(COUNT).fill('taken'));
  expect(await lockAll(paths.map(open))).toEqual(Array(COUNT).fill('held'));
});

test('runFlock: the locks of a group end with the process that requested them', async () => {
  const paths = files();
  const locks = await Promise.all(paths.map(lockFile));
  // Releasing removes the file; the other name shows whether a process still has it open.
  for (const path of paths) linkSync(path, `${path}.other`);
  for (const lock of locks) lock!.release();
  const others = await Promise.all(paths.map((path) => lockFile(`${path}.other`)));
  expect(others.every((lock) => lock !== undefined)).toBe(true);
  for (const lock of others) lock!.release();
});

test.each([
  { what: 'is missing', script: 'exit 127' },
  { what: 'is killed', script: 'kill -9 $$' },
])('runFlock locks each file alone if the shell $what', async ({ script }) => {
  replaceProgram('sh', script);
  const few = files().slice(0, 5).map(open);
  expect(await lockAll(few)).toEqual(Array(5).fill('taken'));
});

test('runFlock: the program fails for a whole group as for one file', async () => {
  replaceProgram('flock', 'echo no locks available >&2; exit 1');
  const few = files().slice(0, 5).map(open);
  expect(await lockAll(few)).toEqual(Array(5).fill('unsupported'));
  vi.stubEnv('PATH', '');
  expect(await lockAll(few)).toEqual(Array(5).fill('unsupported'));
});
