import { closeSync, fstatSync, ftruncateSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { takeAbstractLock } from './abstract-lock.ts';
import { describeSelf, hasEnded, type LockHolder, mayLive, readLockHolder, sharesNames } from './lock-holder.ts';
import { runFlock } from './run-flock.ts';
import { isSystemError } from './system-error.ts';

/** A lock that this process holds until it releases it or ends, however it ends. */
export interface FileLock {
  /** Calls after the first do nothing: the number of the descriptor may be another file's by then. */
  release(): void;
}

const PAUSE_MS = 15;
/** Attempts for a lock whose file names a living process: `isLocked` takes it for a moment, too. */
const TRIES = 3;
/** Attempts where the file names no living process: `isLocked` has the lock, or its new holder is about to write. */
const TRIES_UNNAMED = 20;

/**
 * Takes the lock of a file, for everything that shares its file system: containers with namespaces of their own, and on
 * network file systems other hosts. Undefined: another process has it. The lock is the kernel's (`flock`), which ends
 * with the process, so that no stale one can be left behind. Where the program `flock` is missing, or the file system has
 * no locks, an abstract socket name is the lock; a holder in another namespace that the file names is then taken for alive
 * until the file is removed.
 */
export async function lockFile(file: string): Promise<FileLock | undefined> {
  for (let tries = 1; ; tries++) {
    const outcome = await tryLockFile(file);
    if (typeof outcome === 'object') return outcome;
    if (outcome === 'held' && tries >= (isNamed(file) ? TRIES : TRIES_UNNAMED)) return undefined;
    await delay(PAUSE_MS);
  }
}

/** One attempt. `stale`: what was taken is the lock of a file that its last holder has removed. */
export async function tryLockFile(file: string): Promise<FileLock | 'held' | 'stale'> {
  const fd = openSync(file, 'a+', 0o600);
  let nameLock: NameLock | undefined;
  try {
    nameLock = await take(fd, file);
    if (nameLock && isSameFile(fd, file)) {
      describeHolder(fd, { isNameTheLock: nameLock.release !== undefined });
      return createLock(fd, { file, nameLock });
    }
  } catch (error) {
    nameLock?.release?.();
    closeSync(fd);
    throw error;
  }
  nameLock?.release?.();
  closeSync(fd);
  return nameLock ? 'stale' : 'held';
}

/** Whether a process holds the lock of a file. Starts a program where the file names a process that may live. */
export async function isLocked(file: string): Promise<boolean> {
  let fd: number;
  try {
    fd = openSync(file, 'r');
  } catch (error) {
    if (isSystemError(error, 'ENOENT', 'ENOTDIR')) return false;
    throw error;
  }
  try {
    const holder = readLockHolder(file);
    if (holder && hasEnded(holder)) return false;
    const outcome = await runFlock(fd, { isShared: true });
    if (outcome === 'held') return true;
    return holder !== undefined && (outcome === 'unsupported' || isByName(holder)) && (await mayHold(holder, file));
  } finally {
    closeSync(fd);
  }
}

/** What is held besides the kernel's lock of the file: the abstract name, where that is the lock. */
interface NameLock {
  readonly release?: () => void;
}

/** Undefined: another process has the lock. */
async function take(fd: number, file: string): Promise<NameLock | undefined> {
  const outcome = await runFlock(fd, { isShared: false });
  if (outcome === 'held') return undefined;
  const holder = readLockHolder(file);
  // A process for which `flock` does not work may have the lock by its name.
  if (outcome === 'taken') return holder && isByName(holder) && (await mayHold(holder, file)) ? undefined : {};
  if (holder && !sharesNames(holder) && mayLive(holder)) return undefined;
  const release = await takeAbstractLock(file);
  return release && { release };
}

/** Earlier versions held both, and the kernel's lock tells. */
function isByName({ net, pidNamespace }: LockHolder): boolean {
  return net !== undefined && pidNamespace !== undefined;
}

/** Whether a holder may have the lock that the kernel's lock of the file does not show. */
async function mayHold(holder: LockHolder, file: string): Promise<boolean> {
  if (!mayLive(holder)) return false;
  if (!sharesNames(holder)) return true;
  const release = await takeAbstractLock(file);
  release?.();
  return release === undefined;
}

function isNamed(file: string): boolean {
  const holder = readLockHolder(file);
  return holder !== undefined && !hasEnded(holder);
}

/** False: the holder before has removed the file, and a process that opens it now gets another one. */
function isSameFile(fd: number, file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.ino === fstatSync(fd).ino;
}

/** Removes what the last holder wrote. The lock holds without a new description, where the disk is full for example. */
function describeHolder(fd: number, how: { readonly isNameTheLock: boolean }): void {
  ftruncateSync(fd, 0);
  try {
    writeSync(fd, `${JSON.stringify(describeSelf(how))}\n`);
  } catch {}
}

function createLock(fd: number, { file, nameLock }: { readonly file: string; readonly nameLock: NameLock }): FileLock {
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
        nameLock.release?.();
      }
    },
  };
}
