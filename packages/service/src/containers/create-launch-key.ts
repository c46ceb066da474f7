import { bootID } from '../boot-id.ts';
import { randomID } from '../protocol/random-id.ts';
import type { ContainerRow } from '../store/container-row.ts';

/** A new launch key and the current boot. Before this boot, no container can have started under the key. */
export function createLaunchKey(id: string): Pick<ContainerRow, 'launchKey' | 'launchBootID'> {
  const launchBootID = bootID();
  return { launchKey: `${id}-${randomID(16)}`, ...(launchBootID !== undefined && { launchBootID }) };
}
