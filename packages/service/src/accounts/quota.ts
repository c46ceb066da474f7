import { own, type Scope } from '@sluice/client';
import { parseSize } from '@sluice/core';
import type { ClusterConfig } from '../config/service-config.ts';
import { RequestError } from '../protocol/request-error.ts';
import { renderSize } from '../protocol/sizes.ts';

/** The maximum of an account: containers that have not ended, their cores, and bytes in volumes. Absent: no limit. */
export interface QuotaAmounts {
  readonly containers?: number | undefined;
  readonly cpu?: number | undefined;
  readonly volumes?: number;
}

/** The quota of an account on a cluster, with the account's own values applied. */
export function quotaOf({ quota }: Pick<ClusterConfig, 'quota'>, accountID: string): QuotaAmounts {
  if (quota === undefined) return {};
  const { accounts, ...general } = quota;
  const { volumes, ...counts } = { ...general, ...own(accounts, accountID) };
  return { ...counts, ...(volumes !== undefined && { volumes: parseSize(volumes) }) };
}

/** Throws if `used` plus `wanted` exceeds `maximum`. */
export function checkQuota(limit: keyof QuotaAmounts, amounts: Amounts<number | undefined>, at: Scope): void {
  const { maximum, used, wanted } = amounts;
  if (maximum === undefined || used + wanted <= maximum) return;
  throw quotaExceeded(limit, { maximum, used, wanted }, at);
}

/** Retryable, because the account may use less later. */
export function quotaExceeded(
  limit: keyof QuotaAmounts,
  amounts: Amounts<number>,
  { clusterID, accountID }: Scope,
): RequestError {
  const { maximum, used, wanted } = amounts;
  const needs = wanted === 0 ? '' : ` and this needs ${wanted}`;
  const [uses, most] = limit === 'volumes' ? [renderSize(used), renderSize(maximum)] : [used, maximum];
  const why = `account ${accountID} uses ${uses} of its quota of ${most} ${UNITS[limit]} on cluster ${clusterID}${needs}`;
  return new RequestError('QUOTA_EXCEEDED', `could not create it because ${why}`, {
    details: { limit: `quota.${limit}`, maximum, used, wanted },
    retryAfterMs: 5000,
  });
}

const UNITS = { containers: 'containers', cpu: 'cores', volumes: 'in volumes' };

interface Amounts<Maximum> {
  readonly maximum: Maximum;
  readonly used: number;
  readonly wanted: number;
}
