import type { Scope } from '@sluice/client';
import { quotaExceeded, quotaOf } from '../accounts/quota.ts';
import type { Cluster } from '../clusters/cluster.ts';

const BYTES_PER_GB = 1024 ** 3;

/** Throws where the volumes of the account have used up its quota. */
export async function checkStoredBytes(cluster: Cluster, { clusterID, accountID }: Scope): Promise<void> {
  const { volumeGB } = quotaOf(cluster.config, accountID);
  if (volumeGB === undefined) return;
  const used = (await cluster.usage.measure(accountID)) / BYTES_PER_GB;
  if (used < volumeGB) return;
  const shown = Math.round(used * 10) / 10;
  throw quotaExceeded('volumeGB', { maximum: volumeGB, used: shown, wanted: 0 }, { clusterID, accountID });
}

/** Why an upload of so many bytes is refused, if so; else they count as stored. What is not yet measured is let in. */
export function admitUpload(cluster: Cluster, accountID: string, bytes: number): string | undefined {
  const { volumeGB } = quotaOf(cluster.config, accountID);
  if (volumeGB === undefined) return undefined;
  // In the background: an upload does not wait for a look at all files.
  void cluster.usage.measure(accountID);
  const used = cluster.usage.known(accountID) ?? 0;
  if (used + bytes > volumeGB * BYTES_PER_GB) return `the account has used up its quota of ${volumeGB} volumeGB`;
  cluster.usage.add(accountID, bytes);
  return undefined;
}
