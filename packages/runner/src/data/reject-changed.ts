import { ServiceError, type VolumeFiles } from '@sluice/client';
import type { OutputLocation } from '@sluice/run';
import { describeTreeChange } from '../trees/tree-state.ts';
import type { TreeStates } from '../trees/tree-states.ts';

/** Throws `ServiceError` if a container has changed published data, which then is no longer what its step wrote. */
export async function rejectChanged(
  states: TreeStates,
  {
    locations,
    files,
  }: { readonly locations: readonly OutputLocation[]; readonly files: (place: OutputLocation) => VolumeFiles },
): Promise<void> {
  for (const place of locations) {
    const at = { volumeID: place.volumeId, path: place.path };
    if (!(await states.hasAny(at))) continue;
    const change = await states.findChange(files(place), at);
    if (change === undefined) continue;
    const why = `a container has changed the published data: ${describeTreeChange(change)}`;
    throw new ServiceError('FAILED_PRECONDITION', `${why}; start a new run to recreate it`);
  }
}
