import type { Scope } from '@sluice/client';
import { quotaExceeded, quotaOf } from '../accounts/quota.ts';
import type { Cluster } from '../containers/cluster.ts';

/** Throws if the account's volumes have used up its quota. Measures them if that has not been done recently. */
export async function checkStoredBytes(cluster: Cluster, { clusterID, accountID }: Scope): Promise<void> {
  const { volumes: maximum } = quotaOf(cluster.config, accountID);
  if (maximum === undefined) return;
  const used = await cluster.usage.measure(accountID);
  if (used < maximum) return;
  throw quotaExceeded('volumes', { maximum, used, wanted: 0 }, { clusterID, accountID });
}
