export { type AdoptedContainer, type AdoptRunOptions, adoptRun } from './adopt/adopt-run.ts';
export { previewReuse, type ReusePreview } from './cache/preview-reuse.ts';
export { type Clock, createSystemClock } from './clock.ts';
export { findMissingSources } from './data/find-missing-sources.ts';
export { type PullOptions, type PullTarget, pullOutput, type RunOutputs, readOutputs } from './data/pull-output.ts';
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
export type { RunPlacement, SiteLimits } from './journal/placement.ts';
export type { Reuse } from './journal/reuse.ts';
export { chooseClusters, type Sites } from './placement/choose-clusters.ts';
export { describeMoves } from './placement/describe-moves.ts';
export { findMountFault } from './placement/find-mount-fault.ts';
export { findSites } from './placement/find-placement.ts';
export { describeUnknownVolume, findUnknown } from './placement/find-unknown.ts';
export { findMissingSecret } from './provision/find-missing-secret.ts';
export { resolveImages } from './provision/resolve-images.ts';
export { runDirectory } from './record/run-home.ts';
export type { RunRefusal } from './record/run-refusal.ts';
export type { AttemptReport } from './report/attempt-report.ts';
export { describePlaces } from './report/describe-places.ts';
export type { DetailedReport } from './report/detailed-report.ts';
export { describeImage, type ImageUse, listImages } from './report/list-images.ts';
export { listRuns, type RunSummary } from './report/list-runs.ts';
export { printableLine } from './report/printable-line.ts';
export { readRun } from './report/read-run.ts';
export { reportRun } from './report/report-run.ts';
export type { Reporter, RunnerEvent } from './report/reporter.ts';
export type {
  CellReport,
  FailureReport,
  OutputReport,
  PlaceReport,
  RunPhase,
  RunReport,
  StepReport,
} from './report/run-report.ts';
export type { ReportFiles } from './report/write-report.ts';
export { approveRun } from './run/approve-run.ts';
export { cancelRun } from './run/cancel-run.ts';
export { resumeRun } from './run/resume-run.ts';
export { startRun } from './run/start-run.ts';
export { type OpenSchedule, openSchedule } from './schedule/open-schedule.ts';
export { parseRange } from './schedule/parse-range.ts';
export {
  listSchedules,
  type PauseOptions,
  pauseSchedule,
  type ScheduleSummary,
  unpauseSchedule,
} from './schedule/pause-schedule.ts';
export { createPlannedTimes, describeScheduleFault, type PlannedTimes } from './schedule/planned-times.ts';
export type { ScheduleEvent } from './schedule/schedule-event.ts';
export type { ScheduleOptions } from './schedule/schedule-session.ts';
export { type CellState, TERMINAL_CELL_STATES } from './scheduler/model/cell-state.ts';
export type { RunStatus } from './scheduler/model/command.ts';
export type { ResumeRunOptions, RunHandle, RunnerOptions, StartRunOptions } from './session/run-options.ts';
