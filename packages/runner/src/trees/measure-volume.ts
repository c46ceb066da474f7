import type { VolumeFiles } from '@sluice/client';
import { allowAbsent, walkTree } from './list-tree.ts';

/** Bytes of all files in a tree of a volume; 0 if it is absent. */
export async function measureVolume(files: VolumeFiles, directory: string): Promise<number> {
  let bytes = 0;
  for await (const entry of walkTree(allowAbsent(files), directory)) if (entry.link === undefined) bytes += entry.size;
  return bytes;
}
