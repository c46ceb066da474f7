import type { Result } from '@sluice/core';
import { cellDirectory, MANIFEST } from '@sluice/run';
import { type DeliverOptions, deliverTree } from '../trees/deliver-tree.ts';
import { renderManifest } from './create-manifest.ts';
import type { PublishedOutput } from './find-part.ts';

/** Where an output is copied from; the rest as for `deliverTree`. */
export interface OutputDelivery extends Omit<DeliverOptions, 'sources' | 'added'>, PublishedOutput {}

/** Copies an output to a local directory, as `deliverTree` does, with the layout that a step finds in its input. */
export function deliverOutput(delivery: OutputDelivery): Promise<Result<string[], string>> {
  const { locations, manifest, files, ...options } = delivery;
  return deliverTree({
    ...options,
    sources: locations.map((place) => ({ files: files(place), from: place.path, into: cellDirectory(place.cell) })),
    ...(manifest && { added: { [MANIFEST]: renderManifest(manifest) } }),
  });
}
