import type { Account } from '@sluice/client';

/** The authenticated caller: the user ID for logs, and the accounts that the caller may use. */
export interface Principal {
  readonly userID: string;
  readonly accounts: readonly Account[];
}
