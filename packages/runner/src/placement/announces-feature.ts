import type { Feature, InstanceType } from '@sluice/client';

/** Whether an instance type, of a cluster or of any, announces an extension of the protocol. */
export function announcesFeature(
  feature: Feature,
  { instanceTypes, clusterID }: { readonly instanceTypes: readonly InstanceType[]; readonly clusterID?: string },
): boolean {
  return instanceTypes.some(
    (type) => (clusterID === undefined || type.clusterID === clusterID) && type.features?.includes(feature),
  );
}
