import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { waitForLock } from '@sluice/host-system';

/** Excludes other commands that bring the copy of a run of a server up to date. */
export async function lockCopy<T>(directory: string, action: () => Promise<T>): Promise<T> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const lock = await waitForLock(join(directory, '.copy.lock'), 'ask the server about the run');
  try {
    return await action();
  } finally {
    lock.release();
  }
}
