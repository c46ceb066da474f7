import type { Scope } from '@sluice/client';
import { quotaExceeded, quotaOf } from '../accounts/quota.ts';
import type { Cluster } from '../clusters/cluster.ts';

const BYTES_PER_GB = 1024 ** 3;

/** Throws if the account's volumes have used up its quota. Measures them if that has not been done recently. */
export async function checkStoredBytes(cluster: Cluster, { clusterID, accountID }: Scope): Promise<void> {
  const { volumeGB } = quotaOf(cluster.config, accountID);
  if (volumeGB === undefined) return;
  const used = (await cluster.usage.measure(accountID)) / BYTES_PER_GB;
  if (used < volumeGB) return;
  const rounded = Math.round(used * 10) / 10;
  throw quotaExceeded('volumeGB', { maximum: volumeGB, used: rounded, wanted: 0 }, { clusterID, accountID });
}

/** Returns why an upload is rejected; otherwise counts its bytes as stored. Admits uploads until the usage has been measured. */
export function admitUpload(cluster: Cluster, accountID: string, bytes: number): string | undefined {
  const { volumeGB } = quotaOf(cluster.config, accountID);
  if (volumeGB === undefined) return undefined;
  // In the background: an upload does not wait until all files are measured.
  void cluster.usage.measure(accountID);
  const used = cluster.usage.known(accountID) ?? 0;
  if (used + bytes > volumeGB * BYTES_PER_GB) return `the account has used up its quota of ${volumeGB} volumeGB`;
  cluster.usage.add(accountID, bytes);
  return undefined;
}
