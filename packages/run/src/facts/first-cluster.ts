import type { RunPlacement } from '../records/placement.ts';

/** The first cluster of a step's placement: fingerprints contain the digest that this cluster reports for the image. */
export function firstCluster(
  { placement, home }: { readonly placement?: RunPlacement | undefined; readonly home: { readonly clusterID: string } },
  step: number,
): string {
  return placement?.choices[placement.ofStep[step]!]?.clusters[0] ?? home.clusterID;
}
