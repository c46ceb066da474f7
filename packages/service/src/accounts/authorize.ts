import type { Account, Scope } from '@sluice/client';
import { RequestError } from '../protocol/request-error.ts';
import { compareAccounts } from '../store/tables.ts';
import type { Principal } from './principal.ts';

/** Rejects the wildcard `-` and accounts that are not the principal's. The message does not reveal whether they exist. */
export function authorize(principal: Principal, scope: Scope): void {
  rejectWildcard(scope);
  const own = principal.accounts.some(
    ({ clusterID, accountID }) => clusterID === scope.clusterID && accountID === scope.accountID,
  );
  if (!own) rejectScope();
}

/** The principal's accounts that match `scope`, where `-` matches all, sorted by `compareAccounts`. */
export function matchingAccounts(principal: Principal, scope: Scope): Account[] {
  const matches = principal.accounts.filter(
    ({ clusterID, accountID }) =>
      (scope.clusterID === '-' || scope.clusterID === clusterID) &&
      (scope.accountID === '-' || scope.accountID === accountID),
  );
  if (matches.length === 0 && !(scope.clusterID === '-' && scope.accountID === '-')) rejectScope();
  return matches.toSorted(compareAccounts);
}

/** Rejects an account or cluster that is not the caller's or no longer exists. */
export function rejectScope(): never {
  throw new RequestError('ACCOUNT_NOT_YOURS', 'could not use this account on this cluster because it is not yours');
}

function rejectWildcard(scope: Scope): void {
  for (const field of ['clusterID', 'accountID'] as const) {
    if (scope[field] === '-') {
      throw new RequestError(
        'WILDCARD_NOT_ALLOWED',
        `could not use '-' as ${field} because this call needs a concrete one`,
        {
          details: { field },
        },
      );
    }
  }
}
