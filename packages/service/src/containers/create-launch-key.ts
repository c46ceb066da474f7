import { bootId } from '../boot-id.ts';
import { randomId } from '../protocol/random-id.ts';
import type { ContainerRow } from '../store/container-row.ts';

/** A new launch key and the current boot. Before this boot, no container can have started under the key. */
export function createLaunchKey(id: string): Pick<ContainerRow, 'launchKey' | 'launchBootId'> {
  const launchBootId = bootId();
  return { launchKey: `${id}-${randomId(16)}`, ...(launchBootId !== undefined && { launchBootId }) };
}
