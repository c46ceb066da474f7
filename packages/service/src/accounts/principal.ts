import type { Account } from '@sluice/client';

/** On whose behalf calls are made: a name for logs, and the accounts that may be acted on. */
export interface Principal {
  readonly userID: string;
  readonly accounts: readonly Account[];
}
