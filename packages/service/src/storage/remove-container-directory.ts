import { rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { removeForGood } from './remove-for-good.ts';
import { type StorageAccess, tryInThread } from './storage-access.ts';
import { storagePaths } from './storage-paths.ts';

/**
 * Removes the directory of a launch key; returns false if that failed. The directory is first moved to the trash, so that a
 * partly removed one is never mistaken for a container's. A missing trash means that the storage is unavailable, which is
 * a failure.
 */
export async function removeContainerDirectory(
  launchKey: string,
  {
    storage,
    storageAccess,
    log,
  }: { readonly storage: string; readonly storageAccess: StorageAccess; readonly log: Logger },
): Promise<boolean> {
  const trash = join(storagePaths.trash(storage), launchKey);
  try {
    await tryInThread(storageAccess, async () => {
      await stat(storagePaths.trash(storage));
      await rename(storagePaths.container(storage, launchKey), trash).catch(ignoreAbsence);
    });
    await removeForGood(trash, storageAccess);
    return true;
  } catch (error) {
    log.warn({ err: error, key: launchKey }, 'could not remove the directory of a container');
    return false;
  }
}

function ignoreAbsence(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
