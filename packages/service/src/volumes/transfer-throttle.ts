import { backoffDelay } from '@sluice/client';

const FREE_FAILURES = 10;
const PAUSES = { initialMs: 1_000, maxMs: 60_000 };
const FORGET_AFTER_MS = 10 * 60_000;
const MAX_ENTRIES = 10_000;

interface Failures {
  count: number;
  lastAt: number;
}

/**
 * Slows down password guessing: after several failures of an address, or of a login from this address, further attempts must
 * wait increasingly long. Failures are counted per pair and pauses stay short, because mounted volumes send a login with
 * every request, and unauthenticated clients must not be able to lock it out.
 */
export interface TransferThrottle {
  /** Milliseconds to wait before the next attempt of this address and login; 0 if it may try now. */
  pauseMs(address: string, username: string): number;
  failed(address: string, username: string): void;
  succeeded(address: string, username: string): void;
}

/** Memory is limited: the oldest entries are dropped first. A success clears the pair, but not the address. */
export function createTransferThrottle(now: () => number = Date.now): TransferThrottle {
  const entries = new Map<string, Failures>();
  const keysOf = (address: string, username: string) => [`a ${address}`, `p ${address} ${username}`];

  const pauseOf = (key: string): number => {
    const failures = entries.get(key);
    if (failures === undefined) return 0;
    const since = now() - failures.lastAt;
    if (since > FORGET_AFTER_MS) {
      entries.delete(key);
      return 0;
    }
    // Many users may share an address behind a router, so its limit is ten times as high.
    const excess = failures.count - (key.startsWith('a ') ? FREE_FAILURES * 10 : FREE_FAILURES);
    if (excess < 0) return 0;
    return Math.max(0, backoffDelay(PAUSES, excess + 1) - since);
  };

  return {
    pauseMs: (address, username) => Math.max(...keysOf(address, username).map(pauseOf)),
    failed(address, username) {
      for (const key of keysOf(address, username)) {
        const count = (entries.get(key)?.count ?? 0) + 1;
        entries.delete(key);
        entries.set(key, { count, lastAt: now() });
      }
      for (const key of entries.keys()) {
        if (entries.size <= MAX_ENTRIES) break;
        entries.delete(key);
      }
    },
    succeeded(address, username) {
      entries.delete(`p ${address} ${username}`);
    },
  };
}
