import type { VolumeFiles } from '@sluice/client';
import type { Result } from '@sluice/core';
import { MANIFEST } from '../record/layout.ts';
import type { PlaceReport } from '../report/run-report.ts';
import { type DeliverOptions, deliverTree } from '../trees/deliver-tree.ts';
import { type Manifest, renderManifest } from './create-manifest.ts';

export interface OutputDelivery extends Omit<DeliverOptions, 'sources' | 'added'> {
  readonly places: readonly PlaceReport[];
  /** Of a step with cells: the list of its cells, which is put beside their directories. */
  readonly manifest?: Manifest | undefined;
  readonly files: (place: PlaceReport) => VolumeFiles;
}

/** Copies an output to a local directory, as `deliverTree` does: exactly what a step that has it as an input would find. */
export function deliverOutput(delivery: OutputDelivery): Promise<Result<string[], string>> {
  const { places, manifest, files, ...options } = delivery;
  return deliverTree({
    ...options,
    sources: places.map((place) => ({ files: files(place), from: place.path, into: place.cell })),
    ...(manifest && { added: { [MANIFEST]: renderManifest(manifest) } }),
  });
}
