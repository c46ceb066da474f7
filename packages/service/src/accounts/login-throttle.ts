import { isIPv6 } from 'node:net';
import type { Clock } from '../protocol/clock.ts';

const WINDOW_MS = 15 * 60_000;
/** Failed logins allowed per network address, for one e-mail address (`account`) and for all of them (`address`). */
const LIMITS = { account: 10, address: 50 } as const;
/** Beyond this number the oldest entries are dropped, which bounds memory under a flood from many addresses. */
const MAX_ENTRIES = 50_000;

/**
 * Slows down password guessing, per network address of the caller. Failures from one address do not block other
 * addresses: otherwise any client could lock an account's owner out.
 */
export interface LoginThrottle {
  /** Milliseconds until the next attempt is allowed; 0 if it is allowed now. */
  waitMs(login: { readonly account: string; readonly address: string }): number;
  failed(login: { readonly account: string; readonly address: string }): void;
  /**
   * Clears the account's failures from this address, and the address's failure counted for this attempt. The other failures
   * of the address remain: otherwise one valid login would allow guessing for other accounts.
   */
  succeeded(login: { readonly account: string; readonly address: string }): void;
}

/** In memory only: a restart of the service clears the failures. */
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

/** The /64 network of an IPv6 address, since one host usually controls all its addresses. */
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
