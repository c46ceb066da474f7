import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Scope } from '@sluice/client';
import { listHosted } from '../execute/hosted-mark.ts';
import { type HostedAccount, type HostedAccountOptions, hostedHome, openHostedAccount } from './open-hosted-account.ts';

/** The accounts whose runs a server executes. */
export interface HostedAccounts {
  /** Opens the account at the first call. */
  find(scope: Scope): Promise<HostedAccount>;
  /** Resumes the runs of all these accounts that were not over when the last process ended. */
  resume(scopes: readonly Scope[]): Promise<void>;
  /** Removes the old runs of all these accounts. Rejects if another process executes the runs of one. */
  removeOldRuns(scopes: readonly Scope[]): Promise<void>;
  /** Detaches from all runs. */
  close(): Promise<void>;
}

/** `describe` returns what differs between accounts. */
export function openHostedAccounts(
  root: string,
  describe: (scope: Scope) => Omit<HostedAccountOptions, 'root' | 'scope'>,
): HostedAccounts {
  const opened = new Map<string, Promise<HostedAccount>>();
  let isClosed = false;

  function find(scope: Scope): Promise<HostedAccount> {
    const key = `${scope.clusterID}/${scope.accountID}`;
    let account = opened.get(key);
    if (account === undefined) {
      account = openHostedAccount({ root, scope, ...describe(scope) });
      opened.set(key, account);
      // The next request tries again.
      account.catch(() => opened.delete(key));
    }
    return account;
  }

  return {
    find,
    async resume(scopes) {
      for (const scope of scopes) if ((await listHosted(hostedHome(root, scope))).length > 0) await find(scope);
    },
    async removeOldRuns(scopes) {
      const used = scopes.filter((scope) => existsSync(join(hostedHome(root, scope), 'runs')));
      for (const scope of used) if (!isClosed) await (await find(scope)).removeOldRuns();
    },
    async close() {
      isClosed = true;
      const accounts = await Promise.allSettled([...opened.values()]);
      await Promise.all(accounts.map((one) => (one.status === 'fulfilled' ? one.value.close() : undefined)));
    },
  };
}
