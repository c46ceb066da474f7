import type { Scope } from '@sluice/client';
import { quotaExceeded, quotaOf } from '../accounts/quota.ts';
import type { Cluster } from '../clusters/cluster.ts';
import { renderSize } from '../config/parse-size.ts';

/** Throws if the account's volumes have used up its quota. Measures them if that has not been done recently. */
export async function checkStoredBytes(cluster: Cluster, { clusterID, accountID }: Scope): Promise<void> {
  const { volumes: maximum } = quotaOf(cluster.config, accountID);
  if (maximum === undefined) return;
  const used = await cluster.usage.measure(accountID);
  if (used < maximum) return;
  throw quotaExceeded('volumes', { maximum, used, wanted: 0 }, { clusterID, accountID });
}

/** Returns why an upload is rejected; otherwise counts its bytes as stored. Admits uploads until the usage has been measured. */
export function admitUpload(cluster: Cluster, accountID: string, bytes: number): string | undefined {
  const { volumes: maximum } = quotaOf(cluster.config, accountID);
  if (maximum === undefined) return undefined;
  // In the background: an upload does not wait until all files are measured.
  void cluster.usage.measure(accountID);
  const used = cluster.usage.known(accountID) ?? 0;
  if (used + bytes > maximum) return `the account has used up its quota of ${renderSize(maximum)} in volumes`;
  cluster.usage.add(accountID, bytes);
  return undefined;
}
