import type { RunPlacement } from '../records/placement.ts';
import { choiceOf, choicesOf } from './choice-of.ts';

interface PlacedRun {
  readonly placement?: RunPlacement | undefined;
  readonly home: { readonly clusterID: string };
}

/** The first cluster of a cell's placement: its fingerprint contains the digest that this cluster reports for the image. */
export function firstCluster(
  { placement, home }: PlacedRun,
  place: { readonly step: number; readonly cell: number },
): string {
  return (placement && choiceOf(placement, place).clusters[0]) ?? home.clusterID;
}

/** The first clusters of the cells of a step, each once. */
export function firstClusters({ placement, home }: PlacedRun, step: number): readonly string[] {
  if (placement === undefined) return [home.clusterID];
  return [...new Set(choicesOf(placement, step).map(({ clusters }) => clusters[0] ?? home.clusterID))];
}
