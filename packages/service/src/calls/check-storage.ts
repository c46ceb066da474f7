import type { Cluster } from '../containers/cluster.ts';
import { RequestError } from '../protocol/request-error.ts';
import { storagePaths } from '../storage/storage-paths.ts';
import { createStorageProbe } from '../storage/storage-probe.ts';
import { volumeFault } from '../volumes/volume-fault.ts';

/**
 * With fewer free inodes, nothing is created. A container takes about ten files of its own, and those that run need some to
 * end.
 */
const RESERVED_INODES = 1000;

/** Whether so few inodes are free that nothing may be created; `free` as in `StorageProbe`. */
export function hasFewInodes(free: number | undefined): boolean {
  return free !== undefined && free < RESERVED_INODES;
}

/** Throws while the cluster's storage has too few free inodes for another container or volume. */
export async function checkInodes({ id, freeInodes }: Pick<Cluster, 'id' | 'freeInodes'>): Promise<void> {
  const free = await freeInodes();
  if (!hasFewInodes(free)) return;
  const why = `the disk of its storage has only ${fewInodes(free)}`;
  throw new RequestError(
    'STORE_FULL',
    `could not create anything on cluster ${id} because ${why}; try again once files there are deleted`,
    { retryAfterMs: 5000 },
  );
}

/** Why a service with its storage in `directory` creates nothing: few free inodes. Undefined if there are enough. */
export async function findInodeShortage(directory: string): Promise<string | undefined> {
  return describeInodes(await createStorageProbe(directory).freeInodes());
}

/** As `findInodeShortage`, for what a probe of the directory has returned. */
export function describeInodes(free: number | undefined): string | undefined {
  return hasFewInodes(free) ? `its disk has only ${fewInodes(free)}` : undefined;
}

function fewInodes(free: number | undefined): string {
  return `${free} free inodes, and ${RESERVED_INODES} are reserved`;
}

/**
 * Throws while the cluster's storage is unavailable, for example not mounted. A volume created then would be hidden when the
 * storage is mounted again, and a removal would only appear to succeed.
 */
export async function checkStorage(
  { id, storage, storageAccess }: Cluster,
  directories: readonly ('volumes' | 'trash' | 'containers')[] = ['volumes', 'trash'],
): Promise<void> {
  let fault = await storageAccess.fault();
  for (const name of directories) fault ??= volumeFault(storagePaths[name](storage));
  if (fault === undefined) return;
  throw new RequestError('STORAGE_UNAVAILABLE', `could not reach the storage of cluster ${id}: ${fault}`, {
    retryAfterMs: 5000,
  });
}
