import { FEATURES, type InstanceType } from '@sluice/client';
import type { KnownDurations } from '@sluice/home';
import {
  clustersOf,
  type ImageDigests,
  type InstanceSize,
  type JournalRecord,
  type Reuse,
  type RunPlacement,
} from '@sluice/run';
import { announcesFeature } from '../placement/announces-feature.ts';
import type { FilledOptions } from '../session/run-defaults.ts';
import type { StartRunOptions } from '../session/run-options.ts';

const DEFAULT_PARALLELISM = 1000;

/** The record of what a run is: everything that is frozen in addition to its plan. */
export function createHeader(
  options: FilledOptions<StartRunOptions>,
  given: {
    readonly runId: string;
    readonly plannedTime: number;
    readonly placement: RunPlacement | undefined;
    /** Of all clusters that the run uses. */
    readonly instanceTypes: readonly InstanceType[];
    readonly durations?: KnownDurations | undefined;
    readonly reuse?: Reuse | undefined;
    readonly images?: ImageDigests;
    readonly rerunOf?: string;
  },
): Extract<JournalRecord, { kind: 'run' }> {
  const { runId, plannedTime, placement, instanceTypes, durations, reuse, images, rerunOf } = given;
  const { plan, clock, scope, baseDir, limits, order, parallelism = DEFAULT_PARALLELISM } = options;
  const clusters = clustersOf({ clusterID: scope.clusterID, placement });
  const isUnprotected = clusters.some(
    (clusterID) => !announcesFeature(FEATURES.readOnlyMounts, { instanceTypes, clusterID }),
  );
  return {
    kind: 'run',
    format: 2,
    runId,
    pipeline: plan.pipeline.name,
    at: clock.now(),
    plannedTime,
    clusterID: scope.clusterID,
    accountID: scope.accountID,
    baseDir,
    scheduler: {
      parallelism,
      seed: runId,
      ...(limits && { limits }),
      ...(durations && { durations }),
      ...(isUnprotected && { checksInputs: true }),
    },
    ...(placement && { placement }),
    instanceSizes: instanceTypes.filter(({ clusterID }) => clusters.includes(clusterID)).map(sizeOf),
    ...(images && Object.keys(images).length > 0 && { images }),
    ...(reuse && { reuse }),
    ...(rerunOf !== undefined && { rerunOf }),
    ...(order && { order }),
  };
}

function sizeOf({ clusterID, id, cpu, memory, gpu }: InstanceType): InstanceSize {
  return {
    ...{ clusterID, id, cpu: cpu.cores, memoryGB: memory.sizeGB },
    ...(gpu !== undefined && gpu.count > 0 && { gpu: gpu.count }),
    ...(gpu !== undefined && gpu.count > 0 && gpu.model !== undefined && { gpuModel: gpu.model }),
  };
}
