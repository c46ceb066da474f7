import { createHash, randomBytes } from 'node:crypto';
import type { Account } from '@sluice/client';
import type { Clock } from '../host/clock.ts';
import { put, type Store } from '../store/store.ts';
import { TABLES } from '../store/tables.ts';
import type { Principal } from './principal.ts';

/** Bearer tokens: given out after a login, and asked for by every call. */
export interface Tokens {
  /** A fresh token for the user, durable before it is given. */
  issue(email: string): Promise<string>;
  /** Who a token stands for now, with the accounts of now; undefined for one unknown, expired or of a removed user. */
  principalOf(token: string): Principal | undefined;
}

export interface TokensOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly lifetimeMs: number;
  /** Whether the configuration has the account; a grant may outlive it. */
  readonly isAccount: (account: Account) => boolean;
}

export function createTokens(options: TokensOptions): Tokens {
  const { store, clock, lifetimeMs } = options;
  return {
    async issue(email) {
      const token = randomBytes(32).toString('base64url');
      const createTime = clock.now();
      const row = { email, createTime, expireTime: createTime + lifetimeMs };
      await store.commit([put(TABLES.tokens, hashToken(token), row)]);
      return token;
    },
    principalOf(token) {
      // Looked up by its hash, so that the time of the comparison tells nothing about a token.
      const row = store.get(TABLES.tokens, hashToken(token));
      if (row === undefined || row.expireTime <= clock.now()) return undefined;
      const user = store.get(TABLES.users, row.email);
      // A new password ends what was given out under the old one.
      if (user === undefined || user.passwordTime > row.createTime) return undefined;
      return { userID: user.userID, accounts: user.accounts.filter(options.isAccount) };
    },
  };
}

function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
