import { chmod, readdir, rmdir, unlink } from 'node:fs/promises';
import { isSystemError } from '@sluice/host-system';
import type { StorageAccess } from './storage-access.ts';

const SLASH = Buffer.from('/');

/**
 * Removes `path` recursively, if it exists, including read-only directories: without root, a read-only cache of modules would
 * otherwise occupy its disk space forever. Makes one call to the storage after the other, because a storage that stops
 * answering occupies a thread for each.
 */
export async function removeForGood(path: string, storage: Pick<StorageAccess, 'inThread'>): Promise<void> {
  await removeEntry(Buffer.from(path), storage.inThread);
}

type InThread = StorageAccess['inThread'];

async function removeEntry(path: Buffer, inThread: InThread): Promise<void> {
  try {
    await inThread(() => unlink(path));
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return;
    // Linux reports the former for a directory, other systems the latter.
    if (!isSystemError(error, 'EISDIR', 'EPERM')) throw error;
    await removeDirectory(path, inThread);
  }
}

async function removeDirectory(path: Buffer, inThread: InThread): Promise<void> {
  const list = () => inThread(() => readdir(path, { withFileTypes: true, encoding: 'buffer' }));
  const open = () => inThread(() => chmod(path, 0o700));
  const entries = await list().catch((error: unknown) => openFor(error, { open, again: list }));
  for (const entry of entries) {
    const child = Buffer.concat([path, SLASH, entry.name]);
    const removeChild = () => (entry.isDirectory() ? removeDirectory(child, inThread) : removeEntry(child, inThread));
    await removeChild().catch((error: unknown) => openFor(error, { open, again: removeChild }));
  }
  await inThread(() => rmdir(path)).catch((error: unknown) => {
    if (!isSystemError(error, 'ENOENT')) throw error;
  });
}

/** Tries again after the directory was made writable for its owner. That of another user stays, and its removal fails. */
async function openFor<T>(error: unknown, { open, again }: { open(): Promise<void>; again(): Promise<T> }): Promise<T> {
  if (!isSystemError(error, 'EACCES')) throw error;
  await open().catch(() => {});
  return await again();
}
