import { createHash, randomBytes } from 'node:crypto';
import type { Account } from '@sluice/client';
import type { Clock } from '../protocol/clock.ts';
import { put, remove, type Store } from '../store/store.ts';
import { TABLES } from '../store/tables.ts';
import type { UserRow } from '../store/user-row.ts';
import type { Principal } from './principal.ts';

/** Bearer tokens, issued at login and required by every call. */
export interface Tokens {
  /** Issues a new token for the user who has logged in. It is durable when the promise resolves. */
  issue(user: Pick<UserRow, 'email' | 'passwordTime'>): Promise<string>;
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
    async issue({ email, passwordTime }) {
      const token = randomBytes(32).toString('base64url');
      const createTime = clock.now();
      const row = { email, createTime, expireTime: createTime + lifetimeMs, passwordTime };
      await store.commit([put(TABLES.tokens, hashToken(token), row)]);
      return token;
    },
    principalOf(token) {
      // Looked up by its hash, so that timing reveals nothing about valid tokens.
      const row = store.get(TABLES.tokens, hashToken(token));
      if (row === undefined || row.expireTime <= clock.now()) return undefined;
      const user = store.get(TABLES.users, row.email);
      // A new password invalidates all earlier tokens. The clock may have been set back since, so the times of the tokens
      // are not compared.
      if (user === undefined || user.passwordTime !== row.passwordTime) return undefined;
      return { userId: user.userId, accounts: user.accounts.filter(options.isAccount) };
    },
    async revoke(token) {
      const key = hashToken(token);
      if (store.get(TABLES.tokens, key) !== undefined) await store.commit([remove(TABLES.tokens, key)]);
    },
  };
}

function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
