import { createHash, randomBytes } from 'node:crypto';
import type { Account } from '@sluice/client';
import type { Clock } from '../host/clock.ts';
import { put, remove, type Store } from '../store/store.ts';
import { TABLES } from '../store/tables.ts';
import type { TokenRow, UserRow } from '../store/user-row.ts';
import type { Principal } from './principal.ts';

/** Bearer tokens, issued at login and required by every call. */
export interface Tokens {
  /** Issues a new token for the user. It is durable when the promise resolves. */
  issue(email: string): Promise<string>;
  /** The user of a token, with the user's current accounts; undefined if it is unknown, expired or of a removed user. */
  principalOf(token: string): Principal | undefined;
  /** Makes a token invalid, durably. */
  revoke(token: string): Promise<void>;
}

/** What `createTokens` reads and writes, and how long tokens are valid. */
export interface TokensOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly lifetimeMs: number;
  /** Whether the configuration has the account. A user's grant may refer to a removed one. */
  readonly isAccount: (account: Account) => boolean;
}

/** Stores only the hash of each token. */
export function createTokens(options: TokensOptions): Tokens {
  const { store, clock, lifetimeMs } = options;
  return {
    async issue(email) {
      const token = randomBytes(32).toString('base64url');
      const createTime = clock.now();
      const passwordTime = store.get(TABLES.users, email)?.passwordTime;
      const row = {
        ...{ email, createTime, expireTime: createTime + lifetimeMs },
        ...(passwordTime !== undefined && { passwordTime }),
      };
      await store.commit([put(TABLES.tokens, hashToken(token), row)]);
      return token;
    },
    principalOf(token) {
      // Looked up by its hash, so that timing reveals nothing about valid tokens.
      const row = store.get(TABLES.tokens, hashToken(token));
      if (row === undefined || row.expireTime <= clock.now()) return undefined;
      const user = store.get(TABLES.users, row.email);
      // A new password invalidates all earlier tokens.
      if (user === undefined || !isSamePassword(user, row)) return undefined;
      return { userID: user.userID, accounts: user.accounts.filter(options.isAccount) };
    },
    async revoke(token) {
      const key = hashToken(token);
      if (store.get(TABLES.tokens, key) !== undefined) await store.commit([remove(TABLES.tokens, key)]);
    },
  };
}

/** The clock may have been set back since the password was set, so the token is not compared by its own time. */
function isSamePassword(user: UserRow, { passwordTime, createTime }: TokenRow): boolean {
  return passwordTime === undefined ? user.passwordTime <= createTime : user.passwordTime === passwordTime;
}

function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
