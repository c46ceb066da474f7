import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isSystemError } from '@sluice/host-system';
import type { Logger } from 'pino';
import type { Cluster } from '../containers/cluster.ts';
import { randomId } from '../protocol/random-id.ts';
import { removeForGood } from '../storage/remove-for-good.ts';
import { storagePaths } from '../storage/storage-paths.ts';
import { put, remove, type Store } from '../store/store.ts';
import { idKey, TABLES, timeKey } from '../store/tables.ts';
import type { VolumeRow } from '../store/volume-row.ts';
import { checkStorage } from './check-storage.ts';

/** `kept`: the row is no longer as the caller requires; `mounted` and `no cluster`: it can be purged later. */
export type PurgeOutcome = 'purged' | 'kept' | 'mounted' | 'no cluster';

/** What `createPurge` works on. */
export interface PurgeOptions {
  readonly store: Store;
  readonly clusters: ReadonlyMap<string, Cluster>;
  readonly log: Logger;
  /** Called when a volume is no longer available, to end sessions on its files. */
  readonly onRevoked: (row: VolumeRow) => void;
}

/**
 * Returns the only function that removes volumes. It purges the volume with this row key if `isDue` says so for its present
 * row and no live container mounts it.
 */
export function createPurge(
  options: PurgeOptions,
): (key: string, isDue: (row: VolumeRow) => boolean) => Promise<PurgeOutcome> {
  const { store, clusters } = options;
  // A second purge of a volume must not act on the next volume with this ID.
  const inFlight = new Map<string, Promise<void>>();
  return async (key, isDue) => {
    const found = store.get(TABLES.volumes, key);
    const cluster = found && clusters.get(found.clusterID);
    if (cluster !== undefined) await checkStorage(cluster);
    const earlier = inFlight.get(key);
    if (earlier !== undefined) {
      await earlier;
      return 'purged';
    }
    // From here to the commit no other call runs, so the volume cannot be undeleted or mounted after this decision.
    const row = store.get(TABLES.volumes, key);
    if (row === undefined || !isDue(row)) return 'kept';
    if (cluster === undefined) return 'no cluster';
    if (cluster.containers.isMounted(key)) return 'mounted';
    const purge = purgeVolume(options, { key, row, cluster }).finally(() => inFlight.delete(key));
    inFlight.set(key, purge);
    await purge;
    return 'purged';
  };
}

/** Makes the decision durable, then moves the files to the trash, then removes the row. Each step may be repeated after a crash. */
async function purgeVolume(
  { store, log, onRevoked }: PurgeOptions,
  { key, row, cluster }: { readonly key: string; readonly row: VolumeRow; readonly cluster: Cluster },
): Promise<void> {
  // With a time in the past, so that the next sweep completes the purge after a crash.
  const deleted: VolumeRow = { ...row, phase: 'Deleted', state: 'deleted', deleteTime: row.deleteTime ?? 0 };
  const due = `${timeKey(deleted.deleteTime!)}/${key}`;
  await store.commit([put(TABLES.volumes, key, deleted), put(TABLES.deletedVolumes, due, true)]);
  onRevoked(deleted);
  const { storage } = cluster;
  const trash = join(storagePaths.trash(storage), `volume-${row.id}-${randomId(16)}`);
  try {
    renameSync(storagePaths.volume(storage, row.accountID, row.id), trash);
  } catch (error) {
    if (!isSystemError(error, 'ENOENT')) throw error;
  }
  cluster.usage.expire(row.accountID);
  rmSync(storagePaths.properties(storage, row.accountID, row.id), { force: true });
  store.write([
    ...[remove(TABLES.volumes, key), remove(TABLES.volumeIDs, idKey(row)), remove(TABLES.deletedVolumes, due)],
    ...(row.login === undefined ? [] : [remove(TABLES.volumeLogins, row.login.username)]),
  ]);
  await store.durable();
  removeForGood(trash, cluster.storageAccess).catch((error: unknown) => {
    log.warn(
      { err: error, volume: row.id },
      'could not remove the files of a deleted volume; the next start tries again',
    );
  });
}
