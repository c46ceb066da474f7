export { type SuggestCommand, suggestPlainly } from './explain/advise.ts';
export { explainAttempts } from './explain/explain-attempts.ts';
export { explainDependencies } from './explain/explain-dependencies.ts';
export { explainWait } from './explain/explain-wait.ts';
export { joinStory } from './explain/join-story.ts';
export type {
  AttemptExplanation,
  CacheExplanation,
  InputDifference,
  StepExplanation,
} from './explain/step-explanation.ts';
export { type StoryLine, traceCell } from './explain/trace-cell.ts';
export { adoptedCluster, adoptedKey, hasAdoptedSuccessor } from './facts/adopted-attempt.ts';
export { applyEvent } from './facts/apply-event.ts';
export { applyRecord, type PlainRecord } from './facts/apply-record.ts';
export { MAX_TIME } from './facts/check-record.ts';
export { firstCluster } from './facts/first-cluster.ts';
export { hasSucceeded } from './facts/has-succeeded.ts';
export {
  attemptOutputPath,
  attemptPath,
  attemptReadyPath,
  attemptResultsPath,
  MANIFEST,
  manifestPath,
  ownVolumePath,
  privateCopiesPath,
  privateCopyPath,
  publishedPath,
  runPath,
  runVolumePath,
  SOURCES,
  sourcePath,
  TRASH,
} from './facts/layout.ts';
export { listSourceKeys } from './facts/list-source-keys.ts';
export {
  type CellOrigin,
  findOrigin,
  isFannedOut,
  locateCells,
  locateOutput,
  type OutputSource,
} from './facts/locate-output.ts';
export {
  clusterOfAttempt,
  clusterOfWorkspace,
  clustersOf,
  scopeOn,
  workspaceName,
  workspaceOn,
} from './facts/place-of.ts';
export { notBegun, type ReplayedRun, type RunFiles, replayFiles } from './facts/replay-files.ts';
export { createRunScheduler, type MoveListener, replayRun } from './facts/replay-run.ts';
export { type AttemptFacts, attemptFacts, type CellFacts, createRunFacts, type RunFacts } from './facts/run-facts.ts';
export { isTemporary, type RunRefusal } from './facts/run-refusal.ts';
export { type ContextSource, createRunContext, describeRun, stepIndex, urlOf } from './facts/step-context.ts';
export { stepReason, stepStatus } from './facts/step-status.ts';
export { transferKey } from './facts/transfer-key.ts';
export type { AttemptName } from './records/attempt-name.ts';
export type { BootTime } from './records/boot-time.ts';
export { describeOtherFormat } from './records/describe-other-format.ts';
export type { ImageDigests } from './records/image-digests.ts';
export type { InstanceSize } from './records/instance-size.ts';
export type { JournalLine, ReadLine } from './records/journal-line.ts';
export type {
  CacheMiss,
  CacheSource,
  ContainerFacts,
  EventFacts,
  JournalRecord,
  VolumePlace,
} from './records/journal-record.ts';
export {
  countSteps,
  decodePlan,
  encodePlan,
  findFormatFault,
  type KeptPlan,
  PLAN_FORMAT,
  type StepRange,
} from './records/kept-plan.ts';
export type { KeptResult } from './records/kept-result.ts';
export type { PlacementChoice, RunPlacement, SiteLimits } from './records/placement.ts';
export type { Reuse } from './records/reuse.ts';
export { outlineAttempt } from './report/attempt-outline.ts';
export type { AttemptReport } from './report/attempt-report.ts';
export {
  CELL_STATUSES,
  type CellStatus,
  cellStatus,
  describeState,
  type StatusReport,
  wholeStatus,
} from './report/cell-status.ts';
export { countCells } from './report/count-cells.ts';
export { createReport } from './report/create-report.ts';
export { describeApproval } from './report/describe-approval.ts';
export { describeFailure } from './report/describe-failure.ts';
export { describePlaces } from './report/describe-places.ts';
export { describeStatus } from './report/describe-status.ts';
export { createDetailedReport, type DetailedReport } from './report/detailed-report.ts';
export { endMessage } from './report/end-message.ts';
export { describeWait, explainCell } from './report/explain-cell.ts';
export { type ExposedPort, exposedPorts } from './report/exposed-ports.ts';
export { saysNoSpace } from './report/find-space-hint.ts';
export { itemOf } from './report/item-of.ts';
export { type JsonTimes, renderTimes } from './report/json-times.ts';
export { describeImage, type ImageUse, listImages, listRunImages } from './report/list-images.ts';
export { printableData, printableLine } from './report/printable-line.ts';
export { renderAttemptsCsv } from './report/render-attempts-csv.ts';
export { renderJunit } from './report/render-junit.ts';
export { renderReportPage } from './report/render-report-page.ts';
export { reportOutputs, reportStepOutputs } from './report/report-outputs.ts';
export type { ReportSource } from './report/report-source.ts';
export {
  type DetailedReportValue,
  detailedReportValue,
  type RunReportValue,
  runReportValue,
} from './report/report-value.ts';
export type { Reporter, RunnerEvent, UnnumberedEvent } from './report/reporter.ts';
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
export { describeServiceHold, findServiceHold } from './report/service-hold.ts';
export { verdictOf } from './report/verdict-of.ts';
export { isSatisfied, type StepEnd } from './scheduler/flow/is-satisfied.ts';
export { CELL_STATES, type CellState, TERMINAL_CELL_STATES } from './scheduler/model/cell-state.ts';
export type { CancelReason, Command, RunStatus } from './scheduler/model/command.ts';
export type { AttemptEvent, Outcome, PostponeReason, SchedulerEvent } from './scheduler/model/event.ts';
export { createScheduler, type Scheduler } from './scheduler/scheduler.ts';
export type { CellMove, MoveLog } from './view/move-log.ts';
export { createRunModel, type RunModel } from './view/run-model.ts';
export { SHOWN_STATUSES, type ShownStatus } from './view/shown-status.ts';
export {
  type CellView,
  type ContainerView,
  type DataPlace,
  findInputPlaces,
  findOutputPlace,
  viewCell,
} from './view/view-cell.ts';
export { type RunView, viewRun } from './view/view-run.ts';
export { viewTexts } from './view/view-texts.ts';
export type { FollowedModel, ViewedRun } from './view/viewed-run.ts';
