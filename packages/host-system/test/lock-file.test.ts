import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { takeAbstractLock } from '../src/abstract-lock.ts';
import { isLocked, lockFile } from '../src/lock-file.ts';
import { waitForLock } from '../src/wait-for-lock.ts';

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-lock-'));
  file = join(directory, '.lock');
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true, force: true });
});

const boot = () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
const describe = (more: object) =>
  JSON.stringify({ pid: 1, host: hostname(), boot: boot(), pidNamespace: 'pid:[1]', ...more });
const lacksFlock = () => vi.stubEnv('PATH', directory);

/** A process that holds the lock until it is killed and records another PID namespace. */
async function holdElsewhere(): Promise<ChildProcess> {
  const holder = spawn('flock', ['--no-fork', file, 'sh', '-c', 'echo held; exec sleep 600'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => holder.stdout?.once('data', resolve));
  writeFileSync(file, describe({}));
  return holder;
}

async function kill(holder: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => holder.once('close', resolve));
  holder.kill('SIGKILL');
  await ended;
}

test('lockFile allows one holder at a time, and leaves no file', async () => {
  const first = await lockFile(file);
  expect(await lockFile(file)).toBeUndefined();
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ pid: process.pid, host: hostname(), boot: boot() });
  first?.release();
  expect(existsSync(file)).toBe(false);
  const second = await lockFile(file);
  expect(second).toBeDefined();
  second?.release();
});

test('lockFile: releasing twice closes no file that was opened in between', async () => {
  const lock = await lockFile(file);
  lock?.release();
  // Each gets the lowest free descriptor; one of them had been that of the lock.
  const opened = Array.from({ length: 8 }, () => openSync('/dev/null', 'r'));
  lock?.release();
  for (const fd of opened) closeSync(fd);
});

test('lockFile acquires the lock of a killed process immediately', async () => {
  const holder = await holdElsewhere();
  expect(await lockFile(file)).toBeUndefined();
  await kill(holder);
  const lock = await lockFile(file);
  expect(lock).toBeDefined();
  lock?.release();
});

test('lockFile succeeds for one of many concurrent processes', async () => {
  const locks = await Promise.all(Array.from({ length: 8 }, () => lockFile(file)));
  const taken = locks.filter((lock) => lock !== undefined);
  expect(taken).toHaveLength(1);
  for (const lock of taken) lock.release();
});

test('lockFile uses no abstract name if flock works, and ignores that of another process', async () => {
  const release = await takeAbstractLock(file);
  const lock = await lockFile(file);
  expect(lock).toBeDefined();
  release?.();
  const free = await takeAbstractLock(file);
  expect(free).toBeDefined();
  free?.();
  lock?.release();
});

test('isLocked detects a holder in another namespace and in this one', async () => {
  expect(await isLocked(file)).toBe(false);
  const holder = await holdElsewhere();
  expect(await isLocked(file)).toBe(true);
  await kill(holder);
  expect(await isLocked(file)).toBe(false);
  const own = await lockFile(file);
  expect(await isLocked(file)).toBe(true);
  own?.release();
  expect(await isLocked(file)).toBe(false);
});

test('isLocked starts no program for a process that has ended', async () => {
  const ended = spawn('true');
  await new Promise((resolve) => ended.once('close', resolve));
  const own = await lockFile(file);
  const { pidNamespace } = JSON.parse(readFileSync(file, 'utf8'));
  own?.release();
  writeFileSync(file, describe({ pid: ended.pid, pidNamespace }));
  // `flock` would not be found, and a holder that may be alive would count as alive.
  lacksFlock();
  expect(await isLocked(file)).toBe(false);
  writeFileSync(file, describe({ pid: process.pid, pidNamespace }));
  expect(await isLocked(file)).toBe(true);
});

test.each([
  { of: 'another namespace of this boot', more: { net: 'net:[1]' }, isFree: false },
  { of: 'this boot for which flock works', more: {}, isFree: false },
  { of: 'another host', more: { host: 'elsewhere', boot: 'other' }, isFree: false },
  { of: 'this host before its last boot', more: { boot: 'other' }, isFree: true },
])('lockFile goes by what the file says where there are no locks: a holder of $of', async ({ more, isFree }) => {
  lacksFlock();
  writeFileSync(file, describe(more));
  expect(await isLocked(file)).toBe(!isFree);
  const lock = await lockFile(file);
  expect(lock !== undefined).toBe(isFree);
  lock?.release();
  rmSync(file, { force: true });
  const free = await lockFile(file);
  expect(free).toBeDefined();
  free?.release();
});

test('lockFile allows one holder at a time on a file system without locks', async () => {
  lacksFlock();
  const first = await lockFile(file);
  expect(first).toBeDefined();
  expect(await lockFile(file)).toBeUndefined();
  expect(await isLocked(file)).toBe(true);
  // Also with `flock`: the file records that the abstract name is the lock.
  vi.unstubAllEnvs();
  expect(await lockFile(file)).toBeUndefined();
  expect(await isLocked(file)).toBe(true);
  first?.release();
  expect(await isLocked(file)).toBe(false);
  const second = await lockFile(file);
  expect(second).toBeDefined();
  second?.release();
});

test('waitForLock acquires the lock when its holder releases it', async () => {
  const order: string[] = [];
  const first = await waitForLock(file, 'count');
  const waiting = Promise.all(
    ['b', 'c'].map(async (name) => {
      const lock = await waitForLock(file, 'count');
      order.push(name);
      lock.release();
    }),
  );
  order.push('a');
  first.release();
  await waiting;
  expect(order.sort()).toEqual(['a', 'b', 'c']);
  expect(existsSync(file)).toBe(false);
});
