import { stat } from 'node:fs/promises';

/**
 * What names a directory among all of this machine: device, inode and, where the file system keeps it, the time at which
 * it was made. The inode of a removed directory is given to the next one, while a process that held the first may live.
 */
export async function directoryIdentity(directory: string): Promise<string> {
  const { dev, ino, birthtimeNs } = await stat(directory, { bigint: true });
  return [dev, ino, birthtimeNs].map((part) => part.toString(36)).join('-');
}
