import type { VolumeFiles } from '@sluice/client';
import type { Result } from '@sluice/core';
import { MANIFEST } from '../record/layout.ts';
import type { PlaceReport } from '../report/run-report.ts';
import { type DeliverOptions, deliverTree } from '../trees/deliver-tree.ts';
import { type Manifest, renderManifest } from './create-manifest.ts';

/** Where an output is copied from; the rest as for `deliverTree`. */
export interface OutputDelivery extends Omit<DeliverOptions, 'sources' | 'added'> {
  readonly places: readonly PlaceReport[];
  /** For a step with cells: written next to the directories of the cells. */
  readonly manifest?: Manifest | undefined;
  readonly files: (place: PlaceReport) => VolumeFiles;
}

/** Copies an output to a local directory, as `deliverTree` does, with the layout that a step finds in its input. */
export function deliverOutput(delivery: OutputDelivery): Promise<Result<string[], string>> {
  const { places, manifest, files, ...options } = delivery;
  return deliverTree({
    ...options,
    sources: places.map((place) => ({ files: files(place), from: place.path, into: place.cell })),
    ...(manifest && { added: { [MANIFEST]: renderManifest(manifest) } }),
  });
}
