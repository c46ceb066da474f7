import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { waitForLock } from '@sluice/host-system';

/** Excludes other commands that change the mark of a run (`server.json`) or its copy of the server's journal. */
export async function lockMark<T>(directory: string, action: () => Promise<T>): Promise<T> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const lock = await waitForLock(join(directory, '.server.lock'), 'ask the server about the run');
  try {
    return await action();
  } finally {
    lock.release();
  }
}
