import type { Account } from '@sluice/client';

/** The authenticated caller: the user ID for logs, and the accounts that the caller may use. */
export interface Principal {
  /** Appears in logs. */
  readonly userId: string;
  /** Everything else is invisible to the caller. */
  readonly accounts: readonly Account[];
}
