import type { RunPlacement } from '../journal/placement.ts';

/** The cluster by which a step's image is known in fingerprints. */
export function firstCluster(
  { placement, home }: { readonly placement?: RunPlacement | undefined; readonly home: { readonly clusterID: string } },
  step: number,
): string {
  return placement?.choices[placement.ofStep[step]!]?.clusters[0] ?? home.clusterID;
}
