export { type AdoptedContainer, type AdoptRunOptions, adoptRun } from './adopt/adopt-run.ts';
export { previewReuse, type ReusePreview } from './cache/preview-reuse.ts';
export type { Reuse } from './cache/reuse.ts';
export { type Clock, createSystemClock } from './clock.ts';
export { findMissingSources } from './data/find-missing-sources.ts';
export { type ExplainStepOptions, explainStep } from './explain/explain-step.ts';
export type {
  AttemptExplanation,
  CacheExplanation,
  InputDifference,
  StepExplanation,
} from './explain/step-explanation.ts';
export type { StoryLine } from './explain/trace-cell.ts';
export { type CollectOptions, collectGarbage, type Freed, type GarbageReport } from './gc/collect-garbage.ts';
export { cancelOrphans, findOrphans, type Orphan } from './gc/find-orphans.ts';
export { isRunId } from './identity/run-id.ts';
export { makeDirectories } from './journal/make-directories.ts';
export { chooseClusters, type Sites } from './placement/choose-clusters.ts';
export { describeMoves } from './placement/describe-moves.ts';
export { findMountFault } from './placement/find-mount-fault.ts';
export { findSites } from './placement/find-placement.ts';
export { describeUnknownVolume, findUnknown } from './placement/find-unknown.ts';
export type { RunPlacement, SiteLimits } from './placement/placement.ts';
export type { AttemptReport } from './report/attempt-report.ts';
export { describePlaces } from './report/describe-places.ts';
export type { DetailedReport } from './report/detailed-report.ts';
export { printableLine } from './report/printable-line.ts';
export { reportRun } from './report/report-run.ts';
export type { Reporter, RunnerEvent } from './reporter.ts';
export { approveRun } from './run/approve-run.ts';
export { cancelRun } from './run/cancel-run.ts';
export { findMissingSecret } from './run/find-missing-secret.ts';
export { describeImage, type ImageUse, listImages } from './run/list-images.ts';
export { listRuns, type RunSummary } from './run/list-runs.ts';
export { type PullOptions, type PullTarget, pullOutput, type RunOutputs, readOutputs } from './run/pull-output.ts';
export { readRun } from './run/read-run.ts';
export { resolveImages } from './run/resolve-images.ts';
export { resumeRun } from './run/resume-run.ts';
export { runDirectory } from './run/run-home.ts';
export type { ResumeRunOptions, RunHandle, RunnerOptions, RunRefusal, StartRunOptions } from './run/run-options.ts';
export type {
  CellReport,
  FailureReport,
  OutputReport,
  PlaceReport,
  RunPhase,
  RunReport,
  StepReport,
} from './run/run-report.ts';
export { startRun } from './run/start-run.ts';
export { type OpenSchedule, openSchedule } from './schedule/open-schedule.ts';
export { parseRange } from './schedule/parse-range.ts';
export { createPlannedTimes, describeScheduleFault, type PlannedTimes } from './schedule/planned-times.ts';
export type { ScheduleEvent } from './schedule/schedule-event.ts';
export type { ScheduleOptions } from './schedule/schedule-session.ts';
export { type CellState, TERMINAL_CELL_STATES } from './scheduler/cell-state.ts';
export type { RunStatus } from './scheduler/command.ts';
