import { own, type Scope } from '@sluice/client';
import type { ClusterConfig, QuotaAmounts } from '../config/service-config.ts';
import { RequestError } from '../protocol/request-error.ts';

/** The quota of an account on a cluster, with the account's own values applied. An absent amount has no limit. */
export function quotaOf({ quota }: Pick<ClusterConfig, 'quota'>, accountID: string): QuotaAmounts {
  if (quota === undefined) return {};
  const { accounts, ...general } = quota;
  return { ...general, ...own(accounts, accountID) };
}

/** Throws if `used` plus `wanted` exceeds `maximum`. */
export function checkQuota(limit: keyof QuotaAmounts, amounts: Amounts, at: Scope): void {
  const { maximum, used, wanted } = amounts;
  if (maximum === undefined || used + wanted <= maximum) return;
  throw quotaExceeded(limit, { maximum, used, wanted }, at);
}

/** Retryable, because the account may use less later. */
export function quotaExceeded(
  limit: keyof QuotaAmounts,
  amounts: Amounts,
  { clusterID, accountID }: Scope,
): RequestError {
  const { maximum, used, wanted } = amounts;
  const needs = wanted === 0 ? '' : ` and this needs ${wanted}`;
  const unit = limit === 'cpu' ? 'cores' : limit;
  const why = `account ${accountID} uses ${used} of its quota of ${maximum} ${unit} on cluster ${clusterID}${needs}`;
  return new RequestError('QUOTA_EXCEEDED', `could not create it because ${why}`, {
    details: { limit: `quota.${limit}`, maximum, used, wanted },
    retryAfterMs: 5000,
  });
}

interface Amounts {
  readonly maximum: number | undefined;
  readonly used: number;
  readonly wanted: number;
}
