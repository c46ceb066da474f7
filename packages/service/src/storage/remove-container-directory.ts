import { rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { removeForGood } from './remove-for-good.ts';
import { storagePaths } from './storage-paths.ts';

/**
 * Removes what a launch key has on a storage root; false where that failed. It is first moved away, so that a
 * half-removed one is never taken for a container's. While the storage is away it is not there either, and yet not
 * removed.
 */
export async function removeContainerDirectory(
  launchKey: string,
  { storage, log }: { readonly storage: string; readonly log: Logger },
): Promise<boolean> {
  const trash = join(storagePaths.trash(storage), launchKey);
  try {
    await stat(storagePaths.trash(storage));
    await rename(storagePaths.container(storage, launchKey), trash).catch(ignoreAbsence);
    await removeForGood(trash);
    return true;
  } catch (error) {
    log.warn({ err: error, key: launchKey }, 'could not remove the directory of a container');
    return false;
  }
}

function ignoreAbsence(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
