import { randomUUID } from 'node:crypto';

const MAX_LOCKS = 1_000;

export interface Lock {
  readonly token: string;
  /** Volume path that the lock was asked for. */
  readonly path: string;
  readonly depth: '0' | 'infinity';
  readonly scope: 'exclusive' | 'shared';
  /** XML that the client gave to name itself, standing alone. */
  readonly owner: string;
  readonly seconds: number;
  readonly expiresAt: number;
}

/** The locks of one volume. They live in memory: a restart of the service ends them, as a time-out does. */
export interface LockTable {
  /** The locks that hold for `path` itself: on it, or on a directory above it with all that is in it. */
  covering(path: string): Lock[];
  /** The locks on what is beneath `path`. */
  beneath(path: string): Lock[];
  /** Undefined where the volume has as many locks as it may. */
  add(lock: Omit<Lock, 'token' | 'expiresAt'>): Lock | undefined;
  refresh(lock: Lock, seconds: number): Lock;
  remove(lock: Lock): void;
  /** Ends the locks on `path` and beneath it, because what they were on is gone. */
  forget(path: string): void;
}

/** `now` gives milliseconds; expired locks are dropped when they are next looked at. */
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
