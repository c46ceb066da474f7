import path from 'node:path';
import type { Disk } from '../journal/disk.ts';
import { createSystemDisk } from '../journal/system-disk.ts';
import { runDirectory } from '../runs/run-home.ts';

/** Acts on a run while no process can execute or change it. Undefined: a process does, and nothing was done. */
export async function withRunClaim<T>(
  { home, runId, disk = createSystemDisk() }: { readonly home: string; readonly runId: string; readonly disk?: Disk },
  action: () => Promise<T>,
): Promise<T | undefined> {
  const claim = await disk.claim(runDirectory(path.resolve(home), runId));
  if (claim === undefined) return undefined;
  try {
    return await action();
  } finally {
    await claim.release();
  }
}
