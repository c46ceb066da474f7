import path from 'node:path';
import { directoryIdentity, lockFile } from '@sluice/host-system';
import { takeKernelLock } from '../kernel-lock.ts';

/** Thrown where another living process serves the same root; match on `code`. */
export class StoreInUseError extends Error {
  override readonly name = 'StoreInUseError';
  readonly code = 'STORE_IN_USE';
}

/** Claims `directory` for this process until the returned function is called or the process ends, however it ends. */
export async function lockStore(directory: string): Promise<() => Promise<void>> {
  const unlock = await takeKernelLock(`sluice-store-${await directoryIdentity(directory)}`);
  if (unlock === undefined) {
    throw new StoreInUseError(`could not open ${directory} because another process serves it`);
  }
  const lock = await lockFile(path.join(directory, '.store.lock'));
  if (lock === undefined) {
    await unlock();
    const why = 'a process in another container or on another host serves it';
    throw new StoreInUseError(`could not open ${directory} because ${why}`);
  }
  return async () => {
    lock.release();
    await unlock();
  };
}
