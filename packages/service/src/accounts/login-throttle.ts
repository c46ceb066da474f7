import { isIPv6 } from 'node:net';
import type { Clock } from '../host/clock.ts';

const WINDOW_MS = 15 * 60_000;
/** Failures that a network address may have with one e-mail address, and with all of them. */
const LIMITS = { account: 10, address: 50 } as const;
/** Beyond so many the oldest are forgotten, which bounds memory under a flood from many addresses. */
const MAX_ENTRIES = 50_000;

/**
 * Slows the guessing of passwords by the caller's address. An account's failures from one address are no other
 * address's: else anybody could keep its owner out.
 */
export interface LoginThrottle {
  /** Milliseconds until another try is allowed; 0 when it is now. */
  waitMs(login: { readonly account: string; readonly address: string }): number;
  failed(login: { readonly account: string; readonly address: string }): void;
  /**
   * Forgets the account's failures from there, and takes back the one that this try was counted as; the address keeps its
   * others, or one valid login would open the way for guessing.
   */
  succeeded(login: { readonly account: string; readonly address: string }): void;
}

export function createLoginThrottle(clock: Clock): LoginThrottle {
  const failures = new Map<string, { count: number; since: number }>();
  const entryOf = (key: string) => {
    const entry = failures.get(key);
    return entry !== undefined && clock.now() - entry.since < WINDOW_MS ? entry : undefined;
  };
  const keysOf = ({ account, address }: { account: string; address: string }) => {
    const network = networkOf(address);
    return [
      [`account ${network} ${account}`, LIMITS.account],
      [`address ${network}`, LIMITS.address],
    ] as const;
  };
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
    succeeded(login) {
      const [[account], [address]] = keysOf(login);
      failures.delete(account);
      const entry = entryOf(address);
      if (entry !== undefined) entry.count--;
    },
  };
}

/** A host with an IPv6 address has all 2^64 of its network. */
function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros =
    tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0');
  const groups = [...first, ...zeros, ...last].slice(0, 4);
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':');
}
