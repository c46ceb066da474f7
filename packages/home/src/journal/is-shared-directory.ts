import { fileSystemPlace, findMount, readJobEnvironment } from '@sluice/host-system';

/**
 * Whether other machines may use an existing directory: on the file system of a network, or in a job of Slurm, whose files
 * a machine with the disk may export.
 */
export function isSharedDirectory(directory: string): boolean {
  if (readJobEnvironment(process.env) !== undefined) return true;
  const mount = findMount(directory);
  return mount !== undefined && fileSystemPlace(mount.type) === 'elsewhere';
}
