import { fail, ok, type Result } from '@sluice/core';
import type { GlobalOptions } from '../context/command-context.ts';

/**
 * The options with `--account cluster/account` as two: the account and its cluster. The error says why they cannot be, for
 * example because `--cluster` names another cluster.
 */
export function splitAccount<O extends GlobalOptions>(options: O): Result<O, string> {
  const { account: text, cluster } = options;
  if (text === undefined) return ok(options);
  const [account = '', named, ...others] = text.split('/').reverse();
  if (account === '' || named === '' || others.length > 0) {
    return fail(`option '--account' must be CLUSTER/ACCOUNT or only ACCOUNT, not '${text}'`);
  }
  if (named === undefined) return ok(options);
  if (cluster !== undefined && cluster !== named) {
    return fail(`option '--account ${text}' is on another cluster than '--cluster ${cluster}'; name only one of them`);
  }
  return ok({ ...options, account, cluster: named });
}
