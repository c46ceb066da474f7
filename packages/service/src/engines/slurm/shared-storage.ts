import { fileSystemPlace, type Mount } from '@sluice/host-system';

/** What is known of a directory that nodes must see. */
export interface StorageSite {
  /** Absolute, without symbolic links. */
  readonly path: string;
  /** The mount that contains it; undefined if it is unknown. */
  readonly mount: Mount | undefined;
  /** Whether all nodes are this machine. */
  readonly isOneMachine: boolean;
}

/** `fault`: no node can see the directory. */
export interface StorageFindings {
  readonly fault?: string;
  readonly warnings: readonly string[];
}

const SHARED_ADVICE = 'name a home on the file system that the nodes share, with --home or SLUICE_HOME';
/** Every machine has its own. */
const OF_ONE_MACHINE = ['/tmp', '/var/tmp', '/dev/shm', '/run'];

/** Judges whether nodes see a directory under the same path. It cannot be certain of a file system of a disk. */
export function judgeStorage({ path, mount, isOneMachine }: StorageSite): StorageFindings {
  if (isOneMachine || mount === undefined) return { warnings: [] };
  const { type, locksAreLocal } = mount;
  const place = fileSystemPlace(type);
  const own = OF_ONE_MACHINE.find((directory) => path === directory || path.startsWith(`${directory}/`));
  if (own !== undefined && place !== 'elsewhere')
    return { fault: `each machine has its own ${own}; ${SHARED_ADVICE}`, warnings: [] };
  if (place === 'memory') return { fault: `it is in the memory of this machine; ${SHARED_ADVICE}`, warnings: [] };
  if (place === 'disk') {
    const what = `the file system of ${path} (${type}) is on a disk of this machine`;
    return { warnings: [`${what}; unless the nodes see it under the same path, all jobs fail: ${SHARED_ADVICE}`] };
  }
  if (!locksAreLocal) return { warnings: [] };
  const what = `file locks of ${path} (${type}) are valid on this machine only`;
  return { warnings: [`${what}; use this home from one machine at a time, or mount it with shared locks`] };
}
