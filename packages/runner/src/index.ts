export { previewReuse, type ReusePreview, type StepsOfPreview, sumUpPreview } from './cache/preview-reuse.ts';
export { findBusyGroup } from './concurrency/find-busy-group.ts';
export { createSourceLister } from './data/create-source-lister.ts';
export { findMissingSources } from './data/find-missing-sources.ts';
export { findPublishedContent, findPublishedFile, type PublishedFile } from './data/find-published-files.ts';
export { keepRunLogin } from './data/keep-run-login.ts';
export { listAxisFiles } from './data/list-axis-files.ts';
export { listPublished } from './data/list-published.ts';
export { openVolume } from './data/open-volume.ts';
export { type PublishedCopy, publishOutputs } from './data/publish-outputs.ts';
export { type PullOptions, type PullTarget, pullOutput, type RunOutputs, readOutputs } from './data/pull-output.ts';
export { chooseEndedRuns, type EndedRunOptions, type EndedRuns, forgetRemovedRuns } from './gc/choose-ended-runs.ts';
export { type CollectOptions, collectGarbage, type Freed, type GarbageReport } from './gc/collect-garbage.ts';
export { type DeletedRuns, type DeleteRunsOptions, deleteRuns, type UndeletableRun } from './gc/delete-runs.ts';
export { cancelOrphans, findOrphans, type Orphan } from './gc/find-orphans.ts';
export { type RunsElsewhere, readServerRun, type UnknownAccount } from './gc/runs-elsewhere.ts';
export { chooseClusters } from './placement/choose-clusters.ts';
export type { Sites } from './placement/choose-for-part.ts';
export { countClusters } from './placement/count-clusters.ts';
export { describeMoves } from './placement/describe-moves.ts';
export { findMountFault } from './placement/find-mount-fault.ts';
export { findSites } from './placement/find-placement.ts';
export { describeUnknownVolume, findUnknown } from './placement/find-unknown.ts';
export { listTransfers } from './placement/list-transfers.ts';
export { type AdoptedContainer, type AdoptRunOptions, adoptRun } from './run/adopt-run.ts';
export { approveRun } from './run/approve-run.ts';
export { type AttachedRun, type AttachOptions, attachRun } from './run/attach-run.ts';
export { cancelRun, requestCancel, resumeToCancel } from './run/cancel-run.ts';
export { createRerun, previewRerun, type RerunOptions } from './run/create-rerun.ts';
export {
  countKnownCells,
  createRunFiles,
  type RunData,
  type RunFiles,
  type RunFilesOptions,
} from './run/create-run-files.ts';
export { findLocalFaults, type LocalFault } from './run/find-local-faults.ts';
export { findMissingSecret } from './run/find-missing-secret.ts';
export { findOutsideOutput } from './run/find-outside-output.ts';
export { type OrderedData, provisionOrder } from './run/provision-order.ts';
export { resolveImages } from './run/resolve-images.ts';
export { resumeRun } from './run/resume-run.ts';
export { type SubmittedRun, startRun, submitRun } from './run/start-run.ts';
export { suspendRun } from './run/suspend-run.ts';
export { findIgnoredOptions } from './run/warn-of-clusters.ts';
export { type OpenSchedule, openSchedule } from './schedule/open-schedule.ts';
export type { ScheduleOptions } from './schedule/schedule-session.ts';
export { secretNames } from './session/create-redactor.ts';
export type { Notification } from './session/notification.ts';
export type { RunAllowance } from './session/run-allowance.ts';
export type { ResumeRunOptions, RunHandle, RunnerOptions, StartRunOptions } from './session/run-options.ts';
export type { SharedPolls } from './session/shared-polls.ts';
export type { Notifier } from './session/system-notifier.ts';
export { createTraceSink, type TraceError, type TraceSink } from './trace/trace-sink.ts';
export { hashLocalFile } from './trees/hash-local-file.ts';
export { listTree } from './trees/list-tree.ts';
export { isResult } from './trees/result-marker.ts';
export { createSharedPolls } from './watch/create-shared-polls.ts';
