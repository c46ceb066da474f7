export { describeContainerService } from './describe-container-service.ts';
export { describeVolumeFiles, type VolumeFilesUnderTest } from './describe-volume-files.ts';
export type { ContainerPlan, ServiceUnderTest } from './service-under-test.ts';
export { shellSpec } from './shell-spec.ts';
export { until } from './until.ts';
