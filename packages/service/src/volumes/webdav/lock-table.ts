import { randomUUID } from 'node:crypto';

const MAX_LOCKS = 1_000;

/** A lock of WebDAV, valid until `expiresAt` in milliseconds of the table's clock. */
export interface Lock {
  readonly token: string;
  /** Volume path that the lock was requested for. */
  readonly path: string;
  readonly depth: '0' | 'infinity';
  readonly scope: 'exclusive' | 'shared';
  /** The client's description of itself, as self-contained XML. */
  readonly owner: string;
  readonly seconds: number;
  readonly expiresAt: number;
}

/** The locks of one volume, kept in memory: a restart of the service ends them, like a timeout. */
export interface LockTable {
  /** The locks that apply to `path` itself: on it, or with infinite depth on a directory above. */
  covering(path: string): Lock[];
  /** The locks on what is beneath `path`. */
  beneath(path: string): Lock[];
  /** Undefined if the volume has the maximum number of locks. */
  add(lock: Omit<Lock, 'token' | 'expiresAt'>): Lock | undefined;
  refresh(lock: Lock, seconds: number): Lock;
  remove(lock: Lock): void;
  /** Removes the locks on `path` and beneath it, because the files no longer exist. */
  forget(path: string): void;
}

/** `now` returns milliseconds. Expired locks are removed on the next access. */
export function createLockTable(now: () => number): LockTable {
  const locks = new Map<string, Lock>();

  const live = (): Lock[] => {
    const at = now();
    for (const lock of locks.values()) if (lock.expiresAt <= at) locks.delete(lock.token);
    return [...locks.values()];
  };
  const put = (lock: Lock): Lock => {
    locks.set(lock.token, lock);
    return lock;
  };

  return {
    covering: (path) =>
      locks.size === 0
        ? []
        : live().filter((lock) => lock.path === path || (lock.depth === 'infinity' && isBeneath(path, lock.path))),
    beneath: (path) => (locks.size === 0 ? [] : live().filter((lock) => isBeneath(lock.path, path))),
    add(lock) {
      if (live().length >= MAX_LOCKS) return undefined;
      return put({ ...lock, token: `urn:uuid:${randomUUID()}`, expiresAt: now() + lock.seconds * 1_000 });
    },
    refresh: (lock, seconds) => put({ ...lock, seconds, expiresAt: now() + seconds * 1_000 }),
    remove: (lock) => {
      locks.delete(lock.token);
    },
    forget(path) {
      for (const lock of locks.values()) {
        if (lock.path === path || isBeneath(lock.path, path)) locks.delete(lock.token);
      }
    },
  };
}

/** Whether `path` is strictly beneath `directory`. */
export function isBeneath(path: string, directory: string): boolean {
  return directory === '' ? path !== '' : path.startsWith(`${directory}/`);
}
