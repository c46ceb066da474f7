export { type SuggestCommand, suggestPlainly } from './explain/advise.ts';
export { explainAttempts } from './explain/explain-attempts.ts';
export { explainDependencies } from './explain/explain-dependencies.ts';
export { explainUpstream } from './explain/explain-upstream.ts';
export { explainWait } from './explain/explain-wait.ts';
export { approvalValue, explanationValue } from './explain/explanation-value.ts';
export { fileHistoryValue } from './explain/file-history-value.ts';
export {
  type FilePort,
  type FileSource,
  findFileSource,
  findWriter,
  type HistoryRun,
  originKey,
} from './explain/file-source.ts';
export { findFileUses } from './explain/find-file-uses.ts';
export { joinHistory } from './explain/join-history.ts';
export { traceCell } from './explain/trace-cell.ts';
export { adoptedCluster, adoptedKey, hasAdoptedSuccessor } from './facts/adopted-attempt.ts';
export { applyEvent } from './facts/apply-event.ts';
export { applyRecord, type PlainRecord } from './facts/apply-record.ts';
export { MAX_TIME } from './facts/check-record.ts';
export { choiceOf, choicesOf } from './facts/choice-of.ts';
export { type ApprovalPlace, findApprovals } from './facts/find-approvals.ts';
export { firstCluster, firstClusters } from './facts/first-cluster.ts';
export { hasSucceeded } from './facts/has-succeeded.ts';
export { isRemoved } from './facts/is-removed.ts';
export {
  attemptOutputPath,
  attemptPath,
  attemptReadyPath,
  attemptResultsPath,
  cellDirectory,
  gatheredPath,
  MANIFEST,
  ownVolumePath,
  privateCopiesPath,
  privateCopyPath,
  publishedPath,
  removedPath,
  runPath,
  runVolumePath,
  SOURCES,
  sourcePath,
  TRASH,
} from './facts/layout.ts';
export { listSourceKeys } from './facts/list-source-keys.ts';
export { cellsInOrder, cellsMeant, countListed, findUnknownItem } from './facts/listed-cells.ts';
export {
  type CellOrigin,
  findOrigin,
  isFannedOut,
  locateCells,
  locateOutput,
  type OutputSource,
  placeOf,
} from './facts/locate-output.ts';
export {
  clusterOfAttempt,
  clusterOfWorkspace,
  clustersOf,
  scopeOn,
  workspaceName,
  workspaceOn,
} from './facts/place-of.ts';
export { stepsAfter } from './facts/reachable-steps.ts';
export { type ReadInput, type ReadSource, readableSources, readInputs, succeededCells } from './facts/read-inputs.ts';
export { notBegun, type ReplayedRun, type RunFiles, replayFiles } from './facts/replay-files.ts';
export { createRunScheduler, type MoveListener, replayRun } from './facts/replay-run.ts';
export {
  type AttemptFacts,
  answeredAtOf,
  attemptFacts,
  type CellFacts,
  createRunFacts,
  type RunFacts,
} from './facts/run-facts.ts';
export { isTemporary, type RunError, type RunErrorCode } from './facts/run-rejection.ts';
export { splitCellName } from './facts/split-cell-name.ts';
export {
  type CellIndex,
  type ContextSource,
  createRunContext,
  describeRun,
  stepIndex,
  urlOf,
} from './facts/step-context.ts';
export { stepReason, stepStatus } from './facts/step-status.ts';
export { createTemporaryOutputs, findDependency, type TemporaryOutput } from './facts/temporary-outputs.ts';
export { transferKey } from './facts/transfer-key.ts';
export type { GridStep } from './grid/grid-step.ts';
export { gridSteps } from './grid/grid-steps.ts';
export { type GridColumn, type GridIndex, indexGrid } from './grid/index-grid.ts';
export { countColumns, findFailedRows, type GridEntry, readGridRow } from './grid/read-grid.ts';
export { rowChoices } from './grid/row-choices.ts';
export { summarizeCounts } from './grid/summarize-counts.ts';
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
export type { PlacementChoice, RunPlacement, SiteLimits } from './records/placement.ts';
export type { Reuse } from './records/reuse.ts';
export { timeOfRecord } from './records/time-of-record.ts';
export { outlineAttempt } from './report/attempt-outline.ts';
export { cellValuesOf, describeValues } from './report/cell-values-of.ts';
export { compareBeforeApproval } from './report/compare-before-approval.ts';
export { countCells } from './report/count-cells.ts';
export { createReport } from './report/create-report.ts';
export { describeApproval } from './report/describe-approval.ts';
export { describeFailure } from './report/describe-failure.ts';
export { describeLocations } from './report/describe-locations.ts';
export { describeMiss } from './report/describe-miss.ts';
export { describeCode, describeStatus } from './report/describe-status.ts';
export { describeTimeSpent, type TimeShare } from './report/describe-time-spent.ts';
export { createDetailedReport } from './report/detailed-report.ts';
export { measureAttempt, type Span, spanMs, spanOfAll } from './report/durations.ts';
export { endMessage } from './report/end-message.ts';
export { describeWait, explainCell } from './report/explain-cell.ts';
export { exposedPorts } from './report/exposed-ports.ts';
export { saysNoSpace } from './report/find-space-hint.ts';
export { groupFailures } from './report/group-failures.ts';
export { joinInBlocks } from './report/join-in-blocks.ts';
export { renderTimes } from './report/json-times.ts';
export { describeImage, listImages, listRunImages } from './report/list-images.ts';
export { omitUnknown } from './report/omit-unknown.ts';
export { orderWords, paramWords } from './report/order-words.ts';
export { printableData, printableLine } from './report/printable-line.ts';
export { renderAttemptsCsv } from './report/render-attempts-csv.ts';
export { renderJunit } from './report/render-junit.ts';
export { renderReportJson } from './report/render-report-json.ts';
export { renderReportPage } from './report/render-report-page.ts';
export { createReportGrid, describeEntry, failedFirst, type ReportGrid } from './report/report-grid.ts';
export {
  type RemovedOutput,
  reportOutputs,
  reportRemovedOutputs,
  reportStepOutputs,
} from './report/report-outputs.ts';
export type { ReportSource } from './report/report-source.ts';
export {
  type DetailedReportValue,
  detailedReportValue,
  type RunReportValue,
  runReportValue,
} from './report/report-value.ts';
export { matchesFilter, type RunFilter } from './report/run-filter.ts';
export { newestFirst, timesOf, tookMs } from './report/run-times.ts';
export { describeServiceHold, findServiceHold } from './report/service-hold.ts';
export { statusOfCell, statusOfStep } from './report/status-of-cell.ts';
export { verdictOf } from './report/verdict-of.ts';
export { viewCell } from './report/view-cell.ts';
export { isSatisfied, type SourceEnd } from './scheduler/flow/is-satisfied.ts';
export { CELL_STATES, type CellState, FAILED_STATES, TERMINAL_CELL_STATES } from './scheduler/model/cell-state.ts';
export type { CancelReason, Command, RunStatus } from './scheduler/model/command.ts';
export type { AttemptEvent, Outcome, PostponeReason, SchedulerEvent } from './scheduler/model/event.ts';
export { createScheduler, type Scheduler } from './scheduler/scheduler.ts';
export { type AttemptExplanation, explainedAttempt } from './schemas/attempt.ts';
export { type CellView, cell } from './schemas/cell.ts';
export {
  type CacheExplanation,
  type CellExplanation,
  cellExplanation,
  type HistoryLine,
  type InputDifference,
  type StepExplanation,
  stepExplanation,
} from './schemas/explanation.ts';
export {
  type FailureGroup,
  type FailureReport,
  failure,
  failureGroup,
  type SkippedStep,
  skippedStep,
} from './schemas/failure.ts';
export { type FileHistory, type FileMaker, type FileUse, fileHistory } from './schemas/file-history.ts';
export { type ImageUse, image } from './schemas/image.ts';
export { MISS_REASONS, type MissReason } from './schemas/miss-reasons.ts';
export { type ApprovalChange, type OpenApproval, openApproval } from './schemas/open-approval.ts';
export { type DataLocation, location, type OutputLocation, type OutputReport, output } from './schemas/output.ts';
export { counts, type Executor, type RunSummary, runEntry } from './schemas/run-entry.ts';
export {
  ENGINE_NAMES,
  type EngineName,
  MAX_PARAM_LENGTH,
  type RunOrder,
  type RunSettings,
  runOrder,
  runSettings,
} from './schemas/run-order.ts';
export {
  criticalCell,
  type DetailedReport,
  detailedReport,
  type RunReport,
  runOutline,
  runReport,
  type StepReport,
} from './schemas/run-report.ts';
export { type Reporter, type RunnerEvent, runnerEvents, type UnnumberedEvent } from './schemas/runner-event.ts';
export type { StaleOutput } from './schemas/stale-output.ts';
export { type StatusReport, status } from './schemas/status.ts';
export {
  CELL_STATUSES,
  type CellStatus,
  ENDED_STATUSES,
  RUN_PHASES,
  type RunPhase,
  SHOWN_STATUSES,
} from './schemas/statuses.ts';
export {
  type ComparedStep,
  comparedStep,
  type DifferenceGroup,
  type PartDifference,
  type PlaceDifference,
  type SourceFileDifference,
  type StepDifference,
  stepDifference,
} from './schemas/step-difference.ts';
export { TIME_PARTS, type TimePart } from './schemas/time-parts.ts';
export { type TimeSpent, timeSpent } from './schemas/time-spent.ts';
export { warning } from './schemas/warning.ts';
export { cellName, cellStatus, count, json, milliseconds, runPhase, time } from './schemas/words.ts';
export { findInputLocations, findOutputLocation } from './view/find-locations.ts';
export { type ContainerView, listContainers } from './view/list-containers.ts';
export type { CellMove } from './view/move-log.ts';
export { createRunModel, type RunModel } from './view/run-model.ts';
export { viewFailures } from './view/view-failures.ts';
export { viewRun } from './view/view-run.ts';
export { viewTexts } from './view/view-texts.ts';
export type { FollowedModel, ViewedRun } from './view/viewed-run.ts';
