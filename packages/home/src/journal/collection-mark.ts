import path from 'node:path';
import type { Disk } from './disk.ts';

/** The name of the mark in the directory of a run. */
export const COLLECTION_MARK = 'collecting';

/**
 * Marks a run that is about to be removed, so that no other run starts to reuse it. The garbage collection sets the mark
 * and then checks which runs need this run; a run that reuses it first records this and then checks for the mark. If
 * both happen concurrently, at least one of them detects the other.
 */
export async function markForCollection(disk: Disk, directory: string): Promise<void> {
  await disk.replace(markPath(directory), new Uint8Array());
}

/** Removes the mark of a run that is kept. */
export async function unmarkForCollection(disk: Disk, directory: string): Promise<void> {
  await disk.remove(markPath(directory));
}

/** Whether a garbage collection is removing the run. */
export async function isMarkedForCollection(disk: Disk, directory: string): Promise<boolean> {
  return (await disk.read(markPath(directory))) !== undefined;
}

function markPath(directory: string): string {
  return path.join(directory, COLLECTION_MARK);
}
