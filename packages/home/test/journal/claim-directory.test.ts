import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { askHolder } from '../../src/journal/ask-holder.ts';
import { claimDirectory } from '../../src/journal/claim-directory.ts';

const LISTEN = `require('node:net').createServer().listen(process.argv[1], () => console.log('listening'))`;

let root: string;
let directory: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sluice-claim-'));
  directory = join(root, 'run');
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true, force: true });
});

const lock = () => join(directory, '.lock');
const socket = () => join(directory, '.control.sock');
const isTaken = async (options = {}) => {
  const claim = await claimDirectory(directory, undefined, options);
  await claim?.release();
  return claim === undefined;
};

/** Another process that has the claim, as far as the kernel tells: the lock of the file, and perhaps the socket. */
async function holdElsewhere({ listens }: { listens: boolean }): Promise<ChildProcess> {
  mkdirSync(directory);
  const work = listens ? [process.execPath, '-e', LISTEN, socket()] : ['sh', '-c', 'echo holding; exec sleep 600'];
  const holder = spawn('flock', ['--no-fork', lock(), ...work], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => holder.stdout?.once('data', resolve));
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  const pidNamespace = readlinkSync('/proc/self/ns/pid');
  writeFileSync(lock(), JSON.stringify({ pid: holder.pid, host: hostname(), boot, pidNamespace }));
  return holder;
}

async function kill(holder: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => holder.once('close', resolve));
  holder.kill('SIGKILL');
  await ended;
}

/** From now on, counts how often the program `flock` is started. */
function countPrograms(): () => number {
  const [programs, starts] = [join(root, 'bin'), join(root, 'starts')];
  mkdirSync(programs);
  writeFileSync(
    join(programs, 'flock'),
    `#!/bin/sh\necho started >>'${starts}'\nPATH='${process.env.PATH}' exec flock "$@"\n`,
  );
  chmodSync(join(programs, 'flock'), 0o755);
  vi.stubEnv('PATH', [programs, process.env.PATH].join(delimiter));
  return () => (existsSync(starts) ? readFileSync(starts, 'utf8').split('\n').length - 1 : 0);
}

test('claimDirectory gives a directory to one holder at a time, who can be asked', async () => {
  const claim = await claimDirectory(directory, (line) => `heard ${line}`);
  expect(await isTaken()).toBe(true);
  expect(await askHolder(directory, 'hello')).toBe('heard hello');
  await claim?.release();
  expect(await askHolder(directory, 'hello')).toBeUndefined();
  expect([lock(), socket()].filter((file) => existsSync(file))).toEqual([]);
  expect(await isTaken()).toBe(false);
});

test('claimDirectory claims what a killed process held, and then receives the requests', async () => {
  const holder = await holdElsewhere({ listens: true });
  expect(await isTaken()).toBe(true);
  await kill(holder);
  expect(existsSync(socket())).toBe(true);
  expect(await askHolder(directory, 'hello')).toBeUndefined();
  const claim = await claimDirectory(directory, () => 'next');
  expect(await askHolder(directory, 'hello')).toBe('next');
  await claim?.release();
});

test('a holder without a socket counts as alive, and cannot be reached', async () => {
  const holder = await holdElsewhere({ listens: false });
  expect(await askHolder(directory, 'hello')).toBe('');
  expect(await isTaken()).toBe(true);
  await kill(holder);
  expect(await askHolder(directory, 'hello')).toBeUndefined();
});

test('a holder is asked in a directory whose path is too long for a socket', async () => {
  directory = join(root, 'deep'.repeat(40));
  const claim = await claimDirectory(directory, () => 'deep');
  expect(await askHolder(directory, 'hello')).toBe('deep');
  await claim?.release();
  expect([lock(), socket()].filter((file) => existsSync(file))).toEqual([]);
});

test('to ask starts no program where no process can be found, nor where one answers', async () => {
  const holder = await holdElsewhere({ listens: true });
  await kill(holder);
  const claimed = join(root, 'claimed');
  const claim = await claimDirectory(claimed, () => 'yes');
  const programs = countPrograms();
  expect(await askHolder(join(root, 'absent'), '')).toBeUndefined();
  expect(await askHolder(root, '')).toBeUndefined();
  expect(await askHolder(directory, '')).toBeUndefined();
  expect(await askHolder(claimed, '')).toBe('yes');
  expect(await claimDirectory(claimed)).toBeUndefined();
  expect(programs()).toBe(0);
  await claim?.release();
});

test('a local claim starts no program, excludes a second one, and can replace that of a killed process', async () => {
  const holder = await holdElsewhere({ listens: true });
  expect(await isTaken({ isLocal: true })).toBe(true);
  await kill(holder);
  const programs = countPrograms();
  const claim = await claimDirectory(directory, undefined, { isLocal: true });
  expect(await isTaken({ isLocal: true })).toBe(true);
  await claim?.release();
  expect(await isTaken({ isLocal: true })).toBe(false);
  expect(programs()).toBe(0);
  expect(existsSync(socket())).toBe(false);
});
