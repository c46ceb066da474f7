import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { StorageAccess } from '../../storage/storage-access.ts';
import { EngineError } from '../engine.ts';
import { forEachLimit } from '../for-each-limit.ts';
import { uidOf } from './container-options.ts';
import type { HeldSource } from './docker-source.ts';

/** Read and write for all, and for directories also entering. */
const OPEN_TO_ALL = { dir: 0o777, file: 0o666 };

/**
 * Lets the user of a container write what it mounts writable, and what a service that is root can still read and remove: the
 * mounted directory or file itself is opened to all users; its content keeps owners and modes. Only containers that mount it
 * can reach it, because the service's storage is closed to others. Throws `EngineError` `REJECTED` if `serviceUid` is not root
 * and could not remove the files of this user.
 */
export async function openToUser(
  sources: readonly HeldSource[],
  { user, serviceUid, storage }: { user: string; serviceUid: number; storage: StorageAccess },
): Promise<void> {
  const writable = sources.filter(({ mount }) => mount.readOnly !== true);
  if (writable.length === 0 || uidOf(user) === serviceUid) return;
  if (serviceUid !== 0) {
    throw new EngineError(
      'REJECTED',
      `could not give volumes to a container with the user ${user}: the service runs as user ${serviceUid} and could not remove the files of another one; use "${serviceUid}", or a service that is root`,
    );
  }
  await forEachLimit(writable, (source) => storage.inThread(() => openToAll(source)));
}

async function openToAll({ path, identity, mount }: HeldSource): Promise<void> {
  // A container that mounts the volume can replace the file meanwhile, so its identity is compared once it is open.
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined,
  );
  try {
    const stat = await handle?.stat({ bigint: true });
    if (handle === undefined || `${stat?.dev}:${stat?.ino}` !== identity) {
      throw new EngineError('REJECTED', `${mount.subPath} of the volume cannot be mounted: it was replaced`);
    }
    const mode = Number(stat!.mode) & 0o7777;
    const opened = mode | OPEN_TO_ALL[mount.kind];
    if (opened !== mode) await handle.chmod(opened);
  } finally {
    await handle?.close();
  }
}
