import { chmod, readdir, rm } from 'node:fs/promises';
import { isSystemError } from '@sluice/host-system';

/**
 * Removes `path` recursively, if it exists, including read-only directories: without root, Node cannot remove these, and
 * a read-only cache of modules would occupy its disk space forever.
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

/** Makes each directory writable for its owner. Directories of other users stay unchanged; their removal then fails. */
async function openDirectories(path: Buffer): Promise<void> {
  await chmod(path, 0o700).catch(() => {});
  const entries = await readdir(path, { withFileTypes: true, encoding: 'buffer' }).catch(() => []);
  for (const entry of entries) {
    if (entry.isDirectory()) await openDirectories(Buffer.concat([path, Buffer.from('/'), entry.name]));
  }
}
