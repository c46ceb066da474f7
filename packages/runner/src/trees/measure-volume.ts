import type { VolumeFiles } from '@sluice/client';
import type { DiskAmount } from '@sluice/host-system';
import { allowAbsent, walkTree } from './list-tree.ts';

/** The files, links and directories in a tree of a volume; nothing if it is absent. */
export async function measureVolume(files: VolumeFiles, directory: string): Promise<DiskAmount> {
  let [bytes, inodes] = [0, 0];
  for await (const entry of walkTree(allowAbsent(files), directory)) {
    inodes += 1;
    if (entry.link === undefined) bytes += entry.size;
  }
  return { bytes, inodes };
}
