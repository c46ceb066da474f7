import path from 'node:path';
import { lockFile } from '@sluice/host-system';

/** Thrown if another live process serves the same root. Match on `code`. */
export class StoreInUseError extends Error {
  override readonly name = 'StoreInUseError';
  /** Identifies the error across copies of this package. */
  readonly code = 'STORE_IN_USE';
}

/** Locks `directory` until the returned function is called or the process ends, even if it is killed. */
export async function lockStore(directory: string): Promise<() => Promise<void>> {
  const lock = await lockFile(path.join(directory, '.store.lock'));
  if (lock === undefined) {
    throw new StoreInUseError(`could not open ${directory} because another process serves it`);
  }
  return async () => lock.release();
}
