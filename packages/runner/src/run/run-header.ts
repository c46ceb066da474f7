import type { Reuse } from '../cache/reuse.ts';
import type { JournalRecord } from '../journal/journal-record.ts';
import type { RunPlacement } from '../placement/placement.ts';
import type { KnownDurations } from './known-durations.ts';
import type { FilledOptions } from './run-defaults.ts';
import type { StartRunOptions } from './run-options.ts';

const DEFAULT_MAX_IN_FLIGHT = 1000;

/** The record of what a run is: everything that is frozen beside its plan. */
export function createHeader(
  options: FilledOptions<StartRunOptions>,
  given: {
    readonly runId: string;
    readonly plannedTime: number;
    readonly placement: RunPlacement | undefined;
    readonly durations?: KnownDurations | undefined;
    readonly reuse?: Reuse | undefined;
  },
): Extract<JournalRecord, { kind: 'run' }> {
  const { runId, plannedTime, placement, durations, reuse } = given;
  const { plan, clock, scope, baseDir, limits, maxInFlight = DEFAULT_MAX_IN_FLIGHT } = options;
  return {
    kind: 'run',
    format: 1,
    runId,
    pipeline: plan.pipeline.name,
    at: clock.now(),
    plannedTime,
    clusterID: scope.clusterID,
    accountID: scope.accountID,
    baseDir,
    scheduler: { maxInFlight, seed: runId, ...(limits && { limits }), ...(durations && { durations }) },
    ...(placement && { placement }),
    ...(reuse && { reuse }),
  };
}
