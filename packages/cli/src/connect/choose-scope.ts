import type { Scope } from '@sluice/client';
import { fail, type Result } from '@sluice/core';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { matchScope } from './match-scope.ts';

/** The service, and the cluster and account that the user has named. */
export interface WantedScope {
  readonly url: string;
  readonly clusterID: string | undefined;
  readonly accountID: string | undefined;
}

/** Chooses the only account of a login that matches; if there are several, the rejection lists them. */
export function chooseScope(
  accounts: readonly Scope[],
  { url, clusterID, accountID }: WantedScope,
): Result<Scope, CommandError> {
  const matched = matchScope(accounts, { clusterID, accountID });
  if (matched.ok) return matched;
  const fitting = matched.error;
  const rejection = (reason: string) => ({
    exitCode: EXIT_CODE.rejected,
    message: `could not choose an account: ${reason}`,
  });
  const choices = fitting.length > 0 ? fitting : accounts;
  const place = clusterID === undefined ? '' : ` on cluster ${clusterID}`;
  const missing =
    accountID === undefined ? `this login has no account there` : `this login has no account ${accountID}${place}`;
  if (choices.length === 0) return fail(rejection(`${missing}; ask the operator of ${url}`));
  const lines = choices.map((one) => `  --account ${one.clusterID}/${one.accountID}`);
  return fail({ ...rejection(`${fitting.length > 0 ? 'several accounts match' : missing}; choose one:`), lines });
}
