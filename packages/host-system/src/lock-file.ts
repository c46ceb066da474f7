import { spawn } from 'node:child_process';
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { readBootID } from './boot-id.ts';

/** A lock that this process holds until it releases it or ends, however it ends. */
export interface FileLock {
  /** Calls after the first do nothing: the number of the descriptor may be another file's by then. */
  release(): void;
}

/** Who has taken a lock, as the file says. `net` and `boot` tell whether an abstract socket of the holder can be seen. */
interface Holder {
  readonly pid: number;
  readonly host: string;
  readonly boot: string;
  readonly net: string;
}

type Outcome = 'taken' | 'held' | 'unsupported';

/** `isLockedElsewhere` takes a lock for a moment: a lock that is held is tried this many times. */
const TRIES = 3;
const PAUSE_MS = 15;

/**
 * Takes the lock of a file, for everything that shares its file system: containers with network namespaces of their own,
 * and on network file systems other hosts. Undefined: another process has it. The lock is the kernel's (`flock`), which
 * takes it back with the process, so that no stale one can be left behind. Node cannot ask for it; the program `flock`
 * does so on a descriptor that this process keeps. Where the program is missing, or the file system has no locks, a holder
 * in another namespace that is named in the file is taken for alive until the file is removed.
 */
export async function lockFile(file: string): Promise<FileLock | undefined> {
  for (let tries = 1; ; tries++) {
    const fd = openSync(file, 'a+', 0o600);
    try {
      const outcome = await flock(fd, []);
      const isTaken = outcome === 'taken' || (outcome === 'unsupported' && !mayLive(readHolder(file)));
      if (isTaken && isSameFile(fd, file)) {
        describeHolder(fd);
        return createLock(fd, file);
      }
      if (!isTaken && tries >= TRIES) {
        closeSync(fd);
        return undefined;
      }
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    closeSync(fd);
    await delay(PAUSE_MS);
  }
}

/**
 * Whether a process that cannot be asked by an abstract socket holds the lock of a file: one in another network namespace
 * or on another host. In this namespace no process does, since the caller has asked there.
 */
export async function isLockedElsewhere(file: string): Promise<boolean> {
  let fd: number;
  try {
    fd = openSync(file, 'r+');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
  try {
    const holder = readHolder(file);
    if (holder !== undefined && isHere(holder)) return false;
    const outcome = await flock(fd, ['-s']);
    return outcome === 'held' || (outcome === 'unsupported' && mayLive(holder));
  } finally {
    closeSync(fd);
  }
}

/** The lock belongs to the open file, which this process keeps when the program has ended. */
function flock(fd: number, options: readonly string[]): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const program = spawn('flock', ['-n', ...options, '3'], { stdio: ['ignore', 'ignore', 'pipe', fd] });
    let complaint = '';
    program.stderr?.on('data', (chunk: Buffer) => {
      complaint += chunk.toString();
    });
    program.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'EACCES') resolve('unsupported');
      else reject(error);
    });
    program.on('close', (code) => {
      if (code === 0) resolve('taken');
      // What it cannot do it complains of, and with that code too where it is a busybox.
      else resolve(code === null || (code === 1 && complaint === '') ? 'held' : 'unsupported');
    });
  });
}

/** False: the holder before has removed the file, and a process that opens it now gets another one. */
function isSameFile(fd: number, file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.ino === fstatSync(fd).ino;
}

/** For people and for other namespaces; the lock holds without it, where the disk is full for example. */
function describeHolder(fd: number): void {
  try {
    ftruncateSync(fd, 0);
    writeSync(fd, `${JSON.stringify(describeSelf())}\n`);
  } catch {}
}

function createLock(fd: number, file: string): FileLock {
  let isHeld = true;
  return {
    release() {
      if (!isHeld) return;
      isHeld = false;
      try {
        // The file is removed while it is locked: a process that has it open finds that out and opens it again.
        if (isSameFile(fd, file)) rmSync(file, { force: true });
      } finally {
        closeSync(fd);
      }
    },
  };
}

function readHolder(file: string): Holder | undefined {
  try {
    const { pid, host, boot, net } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Holder>;
    if (pid === undefined || host === undefined || boot === undefined || net === undefined) return undefined;
    return { pid, host, boot, net };
  } catch {
    return undefined;
  }
}

/** Without a lock to go by: an empty file says nothing, and neither does one from before the last boot of this host. */
function mayLive(holder: Holder | undefined): boolean {
  if (holder === undefined || isHere(holder)) return false;
  return holder.host !== hostname() || holder.boot === describeSelf().boot;
}

/** Whether the holder's abstract sockets can be seen from here. */
function isHere(holder: Holder): boolean {
  const self = describeSelf();
  return self.boot !== '' && self.net !== '' && holder.boot === self.boot && holder.net === self.net;
}

function describeSelf(): Holder {
  let net = '';
  try {
    net = readlinkSync('/proc/self/ns/net');
  } catch {}
  return {
    pid: process.pid,
    host: hostname(),
    boot: readBootID() ?? '',
    net,
  };
}
