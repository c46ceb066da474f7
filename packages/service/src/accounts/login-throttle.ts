import type { Clock } from '../clock.ts';

const WINDOW_MS = 15 * 60_000;
/** Failures that an e-mail address may have, and those that a network address may have with all of them. */
const LIMITS = { account: 10, address: 50 } as const;
/** Beyond so many the oldest are forgotten, which bounds memory under a flood from many addresses. */
const MAX_ENTRIES = 50_000;

/** Slows the guessing of passwords, per account and per address of the caller. */
export interface LoginThrottle {
  /** Milliseconds until another try is allowed; 0 when it is now. */
  waitMs(login: { readonly account: string; readonly address: string }): number;
  failed(login: { readonly account: string; readonly address: string }): void;
  /**
   * Forgets the account's failures, and takes back the one that this try was counted as; the address keeps its others,
   * or one valid login would open the way for guessing.
   */
  succeeded(login: { readonly account: string; readonly address: string }): void;
}

export function createLoginThrottle(clock: Clock): LoginThrottle {
  const failures = new Map<string, { count: number; since: number }>();
  const entryOf = (key: string) => {
    const entry = failures.get(key);
    return entry !== undefined && clock.now() - entry.since < WINDOW_MS ? entry : undefined;
  };
  const keysOf = (login: { account: string; address: string }) =>
    [
      [`account ${login.account}`, LIMITS.account],
      [`address ${login.address}`, LIMITS.address],
    ] as const;
  return {
    waitMs(login) {
      const waits = keysOf(login).map(([key, limit]) => {
        const entry = entryOf(key);
        return entry !== undefined && entry.count >= limit ? entry.since + WINDOW_MS - clock.now() : 0;
      });
      return Math.max(...waits);
    },
    failed(login) {
      for (const [key] of keysOf(login)) {
        const entry = entryOf(key) ?? { count: 0, since: clock.now() };
        failures.delete(key);
        failures.set(key, { ...entry, count: entry.count + 1 });
      }
      for (const key of failures.keys()) {
        if (failures.size <= MAX_ENTRIES) break;
        failures.delete(key);
      }
    },
    succeeded({ account, address }) {
      failures.delete(`account ${account}`);
      const entry = entryOf(`address ${address}`);
      if (entry !== undefined) entry.count--;
    },
  };
}
