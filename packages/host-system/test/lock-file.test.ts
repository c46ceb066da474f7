import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { isLockedElsewhere, lockFile } from '../src/lock-file.ts';

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
const describe = (more: object) => JSON.stringify({ pid: 1, host: hostname(), boot: boot(), net: 'net:[1]', ...more });

/** Another process that holds the lock until it is killed; it names itself as of another network namespace. */
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

test('lockFile gives a file to one holder at a time, and leaves nothing behind', async () => {
  const first = await lockFile(file);
  expect(await lockFile(file)).toBeUndefined();
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ pid: process.pid, host: hostname(), boot: boot() });
  first?.release();
  expect(existsSync(file)).toBe(false);
  const second = await lockFile(file);
  expect(second).toBeDefined();
  second?.release();
});

test('a lock that is released twice closes no file that was opened in between', async () => {
  const lock = await lockFile(file);
  lock?.release();
  // Each takes the lowest free number; one of them is that of the lock.
  const opened = Array.from({ length: 8 }, () => openSync('/dev/null', 'r'));
  lock?.release();
  for (const fd of opened) closeSync(fd);
});

test('lockFile takes over at once what a killed process held', async () => {
  const holder = await holdElsewhere();
  expect(await lockFile(file)).toBeUndefined();
  await kill(holder);
  const lock = await lockFile(file);
  expect(lock).toBeDefined();
  lock?.release();
});

test('isLockedElsewhere knows a holder of another namespace, and none of this one', async () => {
  expect(await isLockedElsewhere(file)).toBe(false);
  const holder = await holdElsewhere();
  expect(await isLockedElsewhere(file)).toBe(true);
  await kill(holder);
  const own = await lockFile(file);
  expect(await isLockedElsewhere(file)).toBe(false);
  own?.release();
});

test.each([
  { of: 'another namespace of this boot', more: {}, isFree: false },
  { of: 'another host', more: { host: 'elsewhere', boot: 'other' }, isFree: false },
  { of: 'this host before its last boot', more: { boot: 'other' }, isFree: true },
])('lockFile goes by what the file says where no locks are to be had: a holder of $of', async ({ more, isFree }) => {
  vi.stubEnv('PATH', directory);
  writeFileSync(file, describe(more));
  expect(await isLockedElsewhere(file)).toBe(!isFree);
  const lock = await lockFile(file);
  expect(lock !== undefined).toBe(isFree);
  lock?.release();
  rmSync(file, { force: true });
  const free = await lockFile(file);
  expect(free).toBeDefined();
  free?.release();
});
