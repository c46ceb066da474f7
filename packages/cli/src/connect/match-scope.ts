import type { Scope } from '@sluice/client';
import { fail, ok, type Result } from '@sluice/core';

/** The only account of a login that has this cluster and account; the error lists the accounts if there are several. */
export function matchScope(
  accounts: readonly Scope[],
  { clusterID, accountID }: { readonly clusterID?: string | undefined; readonly accountID?: string | undefined },
): Result<Scope, readonly Scope[]> {
  const fitting = accounts.filter(
    (one) =>
      (clusterID === undefined || one.clusterID === clusterID) &&
      (accountID === undefined || one.accountID === accountID),
  );
  const [only] = fitting;
  if (only === undefined || fitting.length > 1) return fail(fitting);
  return ok({ clusterID: only.clusterID, accountID: only.accountID });
}
