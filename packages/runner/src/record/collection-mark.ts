import path from 'node:path';
import type { Disk } from '../journal/disk.ts';

/**
 * Says that a run is about to be removed, so that no other takes over from it any more. Who collects marks first and then
 * looks who needs the run; who takes over first writes down that it needs it and then looks for the mark: whatever
 * happens at once, one of the two sees the other.
 */
export async function markForCollection(disk: Disk, directory: string): Promise<void> {
  await disk.replace(markPath(directory), new Uint8Array());
}

/** Takes it back. */
export async function unmarkForCollection(disk: Disk, directory: string): Promise<void> {
  await disk.remove(markPath(directory));
}

export async function isMarkedForCollection(disk: Disk, directory: string): Promise<boolean> {
  return (await disk.read(markPath(directory))) !== undefined;
}

function markPath(directory: string): string {
  return path.join(directory, 'collecting');
}
