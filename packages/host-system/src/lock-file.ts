import { closeSync, fstatSync, ftruncateSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { takeAbstractLock } from './abstract-lock.ts';
import { findMount } from './find-mount.ts';
import {
  describeSelf,
  hasEnded,
  type LockHolder,
  mayBeUnseen,
  mayLive,
  readLockHolder,
  sharesNames,
} from './lock-holder.ts';
import { runFlock } from './run-flock.ts';
import { isSystemError } from './system-error.ts';

/** A lock that this process holds until it releases it or ends, even if it is killed. */
export interface FileLock {
  /** Idempotent: the number of the closed descriptor may already belong to another file. */
  release(): void;
}

const PAUSE_MS = 15;
/** Attempts if the file names a live process. `isLocked` also holds the lock for a moment. */
const TRIES = 3;
/** Attempts if the file names no live process: `isLocked` holds the lock, or a new holder is about to write the file. */
const TRIES_UNNAMED = 20;

/**
 * Locks a file against all processes that share its file system: in containers with their own namespaces, and on other
 * hosts if it is a network file system. Undefined if another process holds the lock. The kernel releases the lock (`flock`)
 * when the process ends, so no stale lock remains. If the program `flock` is missing or the file system does not support
 * locks, an abstract socket name is the lock. A holder in another namespace then counts as alive until the file is removed,
 * and so does a holder on another machine if the file system does not share its locks.
 */
export async function lockFile(file: string): Promise<FileLock | undefined> {
  for (let tries = 1; ; tries++) {
    const outcome = await tryLockFile(file);
    if (typeof outcome === 'object') return outcome;
    if (outcome === 'held' && tries >= (isNamed(file) ? TRIES : TRIES_UNNAMED)) return undefined;
    await delay(PAUSE_MS);
  }
}

/** Makes one attempt. `stale`: the lock belongs to a file that its last holder has since removed. */
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

/** Whether a process holds the lock of a file. Starts the program `flock` if the file names a process that may be alive. */
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
    return (
      holder !== undefined && (outcome === 'unsupported' || isUnseen(holder, file)) && (await mayHold(holder, file))
    );
  } finally {
    closeSync(fd);
  }
}

/** Releases the abstract name if the lock is one; empty if it is the kernel's. */
interface NameLock {
  readonly release?: () => void;
}

/** Undefined if another process holds the lock. */
async function take(fd: number, file: string): Promise<NameLock | undefined> {
  const outcome = await runFlock(fd, { isShared: false });
  if (outcome === 'held') return undefined;
  const holder = readLockHolder(file);
  // A process on which `flock` does not work may hold the abstract name, or another machine a lock that is not shared.
  if (outcome === 'taken')
    return holder !== undefined && isUnseen(holder, file) && (await mayHold(holder, file)) ? undefined : {};
  if (holder && !sharesNames(holder) && mayLive(holder)) return undefined;
  const release = await takeAbstractLock(file);
  return release && { release };
}

function isUnseen(holder: LockHolder, file: string): boolean {
  return mayBeUnseen(holder, () => findMount(file));
}

/** Whether a holder may hold the abstract name, which the kernel's lock of the file does not show. */
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

/** False if the previous holder removed the file: a process that opens it now gets another one. */
function isSameFile(fd: number, file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.ino === fstatSync(fd).ino;
}

/** Replaces the previous holder's description. The lock is valid without one, for example if the disk is full. */
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
        // Removed while it is locked: a process that has the file open detects this (`stale`) and opens it again.
        if (isSameFile(fd, file)) rmSync(file, { force: true });
      } finally {
        closeSync(fd);
        nameLock.release?.();
      }
    },
  };
}
