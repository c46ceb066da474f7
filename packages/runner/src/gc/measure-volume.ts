import type { VolumeFiles } from '@sluice/client';
import { allowAbsent, walkTree } from '../trees/list-tree.ts';

/** Bytes of every file beneath a directory of a volume; 0 where it is not there. */
export async function measureVolume(files: VolumeFiles, directory: string): Promise<number> {
  let bytes = 0;
  for await (const entry of walkTree(allowAbsent(files), directory)) if (entry.link === undefined) bytes += entry.size;
  return bytes;
}
