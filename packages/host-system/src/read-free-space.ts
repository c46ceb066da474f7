import { statfs } from 'node:fs/promises';

/** An amount of what a file system holds. A file, a link or a directory takes one inode, whatever its size. */
export interface DiskAmount {
  readonly bytes: number;
  readonly inodes: number;
}

/**
 * What can still be created on the file system of an existing path. Infinity where the file system reports no limit, as
 * Btrfs does for inodes. Throws Node's own errors.
 */
export async function readFreeSpace(path: string): Promise<DiskAmount> {
  // Other than `stat`, this is not answered from a cache of attributes.
  const { blocks, bavail, bsize, files, ffree } = await statfs(path);
  return {
    bytes: blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize,
    inodes: files === 0 ? Number.POSITIVE_INFINITY : ffree,
  };
}
