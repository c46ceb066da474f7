import { bootID } from '../boot-id.ts';
import { randomID } from '../host/random-id.ts';
import type { ContainerRow } from '../store/container-row.ts';

/** A launch key that was never used, and the boot in which it was made: nothing can have started under it before. */
export function createLaunchKey(id: string): Pick<ContainerRow, 'launchKey' | 'launchBootID'> {
  const launchBootID = bootID();
  return { launchKey: `${id}-${randomID(16)}`, ...(launchBootID !== undefined && { launchBootID }) };
}
