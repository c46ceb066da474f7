import type { Feature, InstanceType } from '@sluice/client';

/** Whether a cluster's instance types announce one of the protocol's extensions. */
export function announcesFeature(
  feature: Feature,
  { instanceTypes, clusterID }: { readonly instanceTypes: readonly InstanceType[]; readonly clusterID: string },
): boolean {
  return instanceTypes.some((type) => type.clusterID === clusterID && type.features?.includes(feature));
}
