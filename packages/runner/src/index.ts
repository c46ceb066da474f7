export { type AdoptedContainer, type AdoptRunOptions, adoptRun } from './adopt/adopt-run.ts';
export { findCopyFault } from './adopt/find-copy-fault.ts';
export type { BootTime } from './boot-time.ts';
export { previewReuse, type ReusePreview, type StepsOfPreview, sumUpPreview } from './cache/preview-reuse.ts';
export { type Clock, createSystemClock } from './clock.ts';
export { createDeadline, describeUnanswered, isLate, LATE } from './control/request-deadline.ts';
export { withRunClaim } from './control/with-run-claim.ts';
export { findMissingSources } from './data/find-missing-sources.ts';
export { openVolume } from './data/open-volume.ts';
export { type PublishedCopy, publishOutputs } from './data/publish-outputs.ts';
export { type PullOptions, type PullTarget, pullOutput, type RunOutputs, readOutputs } from './data/pull-output.ts';
export { type CellExplanation, explainFollowed } from './explain/explain-followed.ts';
export { type ExplainStepOptions, explainStep } from './explain/explain-step.ts';
export type {
  AttemptExplanation,
  CacheExplanation,
  InputDifference,
  StepExplanation,
} from './explain/step-explanation.ts';
export type { StoryLine } from './explain/trace-cell.ts';
export { type FollowRunOptions, followRun, type RunFollower } from './follow/follow-run.ts';
export type { CellMove, MoveLog } from './follow/move-log.ts';
export type { RunModel } from './follow/run-model.ts';
export { SHOWN_STATUSES, type ShownStatus } from './follow/shown-status.ts';
export {
  type CellView,
  type ContainerView,
  type DataPlace,
  findInputPlaces,
  findOutputPlace,
  viewCell,
} from './follow/view-cell.ts';
export { type RunView, viewRun } from './follow/view-run.ts';
export { viewTexts } from './follow/view-texts.ts';
export type { FollowedModel } from './follow/viewed-run.ts';
export { chooseEndedRuns, type EndedRunOptions, type EndedRuns, forgetRemovedRuns } from './gc/choose-ended-runs.ts';
export { type CollectOptions, collectGarbage, type Freed, type GarbageReport } from './gc/collect-garbage.ts';
export { cancelOrphans, findOrphans, type Orphan } from './gc/find-orphans.ts';
export { type RunsElsewhere, readServerRun, type UnknownAccount } from './gc/runs-elsewhere.ts';
export { findBusyGroup } from './groups/find-busy-group.ts';
export { type CheckedRun, checkRunFiles } from './handover/check-run-files.ts';
export { type JournalMirror, openJournalMirror } from './handover/mirror-journal.ts';
export { type RunHandOver, readHandOver, writePlanBytes } from './handover/read-hand-over.ts';
export { type HandedJournal, readHandedJournal } from './handover/read-handed-journal.ts';
export { keepRunLogin, readRunLogins } from './handover/run-logins.ts';
export { createRunId, isRunId } from './identity/run-id.ts';
export type { RunPlacement, SiteLimits } from './journal/placement.ts';
export type { Reuse } from './journal/reuse.ts';
export { RECEIVED_FILE, RELEASED_FILE } from './journal/run-marks.ts';
export {
  describeServer,
  isHostedByServer,
  readServerMark,
  type ServerMark,
  writeServerMark,
} from './journal/server-mark.ts';
export { chooseClusters, type Sites } from './placement/choose-clusters.ts';
export { describeMoves } from './placement/describe-moves.ts';
export { findMountFault } from './placement/find-mount-fault.ts';
export { findSites } from './placement/find-placement.ts';
export { describeUnknownVolume, findUnknown } from './placement/find-unknown.ts';
export { listPoolUse, type PoolUse } from './pools/list-pool-use.ts';
export { findLocalFaults, type LocalFault } from './provision/find-local-faults.ts';
export { findOutsideOutput } from './provision/find-outside-output.ts';
export { resolveImages } from './provision/resolve-images.ts';
export { runDirectory } from './record/run-home.ts';
export { isTemporary, type RunRefusal } from './record/run-refusal.ts';
export { readStoredSummary, recordRemovedRun, type StoredSummary } from './record/run-summary.ts';
export type { AttemptReport } from './report/attempt-report.ts';
export { CELL_STATUSES, type CellStatus, describeState, type StatusReport } from './report/cell-status.ts';
export { describePlaces } from './report/describe-places.ts';
export { describeStatus } from './report/describe-status.ts';
export type { DetailedReport } from './report/detailed-report.ts';
export type { ExposedPort } from './report/exposed-ports.ts';
export { type JsonTimes, renderTimes } from './report/json-times.ts';
export { describeImage, type ImageUse, listImages, listRunImages } from './report/list-images.ts';
export { listRuns, type RunSummary, readRunSummary } from './report/list-runs.ts';
export { printableData, printableLine } from './report/printable-line.ts';
export { readRun } from './report/read-run.ts';
export { readRunProcess } from './report/read-run-process.ts';
export { readStartCommand } from './report/read-start-command.ts';
export { renderJunit } from './report/render-junit.ts';
export { readDetailedReport, reportRun } from './report/report-run.ts';
export {
  type DetailedReportValue,
  detailedReportValue,
  type RunReportValue,
  runReportValue,
} from './report/report-value.ts';
export type { Reporter, RunnerEvent } from './report/reporter.ts';
export {
  type CellReport,
  type FailureReport,
  type OutputReport,
  type PlaceReport,
  RUN_PHASES,
  type RunPhase,
  type RunReport,
  type StepReport,
} from './report/run-report.ts';
export type { ReportFiles } from './report/write-report.ts';
export { approveRun } from './run/approve-run.ts';
export { type AttachedRun, type AttachOptions, attachRun } from './run/attach-run.ts';
export { cancelRun, requestCancel } from './run/cancel-run.ts';
export { createRerun, previewRerun, type RerunFiles, type RerunOptions } from './run/create-rerun.ts';
export { detachRun } from './run/detach-run.ts';
export { resumeRun } from './run/resume-run.ts';
export { type SubmittedRun, startRun, submitRun } from './run/start-run.ts';
export type { SchedulePlace } from './schedule/find-schedule.ts';
export { listPlannedTimes, type PlannedTimeReport } from './schedule/list-planned-times.ts';
export { listSchedules, type ScheduleSummary } from './schedule/list-schedules.ts';
export { type OpenSchedule, openSchedule } from './schedule/open-schedule.ts';
export { parseRange, renderRange } from './schedule/parse-range.ts';
export { pauseSchedule, unpauseSchedule } from './schedule/pause-schedule.ts';
export { createPlannedTimes, describeScheduleFault, type PlannedTimes } from './schedule/planned-times.ts';
export { readScheduleSettings, recordScheduleSettings } from './schedule/record-settings.ts';
export { type RequestedBackfill, requestBackfill } from './schedule/request-backfill.ts';
export type { ScheduleEvent } from './schedule/schedule-event.ts';
export type { ScheduleOptions } from './schedule/schedule-session.ts';
export { describeSettingsChange, type ScheduleSettings, scheduleSettings } from './schedule/schedule-settings.ts';
export { type CellState, TERMINAL_CELL_STATES } from './scheduler/model/cell-state.ts';
export type { RunStatus } from './scheduler/model/command.ts';
export type { Notification } from './session/notification.ts';
export type { RunAllowance } from './session/run-allowance.ts';
export type { ResumeRunOptions, RunHandle, RunnerOptions, StartRunOptions } from './session/run-options.ts';
export type { SharedPolls } from './session/shared-polls.ts';
export type { Notifier } from './session/system-notifier.ts';
export { createTraceSink, type TraceRefusal, type TraceSink } from './trace/trace-sink.ts';
export { hashLocalFile } from './trees/hash-local-file.ts';
export { listTree } from './trees/list-tree.ts';
export { isResult } from './trees/result-marker.ts';
export { createSharedPolls } from './watch/create-shared-polls.ts';
