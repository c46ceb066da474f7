import { chmod, readdir, rm } from 'node:fs/promises';
import { isSystemError } from '@sluice/host-system';

/**
 * Removes what lies at `path`, if anything does, also directories that their owner may not change: without being root we
 * could not, and a cache of modules that its tool has made read-only would keep its disk for ever.
 */
export async function removeForGood(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    if (!isSystemError(error, 'EACCES')) throw error;
    await openDirectories(Buffer.from(path));
    await rm(path, { recursive: true, force: true });
  }
}

/** Lets the owner change each directory. What is another's stays as it is: the removal then says so. */
async function openDirectories(path: Buffer): Promise<void> {
  await chmod(path, 0o700).catch(() => {});
  const entries = await readdir(path, { withFileTypes: true, encoding: 'buffer' }).catch(() => []);
  for (const entry of entries) {
    if (entry.isDirectory()) await openDirectories(Buffer.concat([path, Buffer.from('/'), entry.name]));
  }
}
