import { close } from 'node:fs';
import { promisify } from 'node:util';
import type { StorageAccess } from '../../storage/storage-access.ts';

const closeDescriptor = promisify(close);

/** Closes a descriptor in a thread: network storages write what they have buffered, and may not answer. */
export function closeFile(storage: StorageAccess, file: number): Promise<void> {
  return storage.inThread(() => closeDescriptor(file));
}
