export { type Clock, createSystemClock, sleep } from './clock.ts';
export { createDeadline, describeUnanswered, isLate, LATE } from './control/request-deadline.ts';
export { withRunClaim } from './control/with-run-claim.ts';
export type { SourceFileEntry, SourceLister } from './explain/difference/compare-sources.ts';
export { type ComparedSteps, compareSteps } from './explain/difference/compare-steps.ts';
export { explainStepDifference, type StepDifferenceOptions } from './explain/difference/explain-step-difference.ts';
export { findPreviousRun } from './explain/difference/find-previous-run.ts';
export { explainFollowed } from './explain/explain-followed.ts';
export { type ExplainStepOptions, explainStep } from './explain/explain-step.ts';
export { listOpenApprovals } from './explain/list-open-approvals.ts';
export { readFileHistory } from './explain/read-file-history.ts';
export { followJournal } from './follow/follow-journal.ts';
export { type FollowRunOptions, followRun, type RunFollower } from './follow/follow-run.ts';
export { type JournalMirror, openJournalMirror } from './follow/mirror-journal.ts';
export { type GroupEntry, readGroup, replaceGroup } from './groups/group-list.ts';
export { resolveGroup } from './groups/resolve-group.ts';
export { containerId } from './identity/container-id.ts';
export { createRunId, isRunId } from './identity/run-id.ts';
export { ANSWER_MS } from './journal/ask-holder.ts';
export { askPhase } from './journal/ask-phase.ts';
export {
  CUSTODY_FILE,
  type Custody,
  describeCustody,
  encodeHosted,
  isCollecting,
  isOnServer,
  moveCustody,
  placeOf,
  readCustody,
  type ServerPlace,
} from './journal/custody.ts';
export type { AppendFile, Claim, ControlListener, Disk } from './journal/disk.ts';
export { enteringDirectory } from './journal/entering-directory.ts';
export { withHomeLock } from './journal/home-lock.ts';
export type { Journal } from './journal/journal.ts';
export { isLeaseSecret, OTHER_LEASE, readLease, wasOpened } from './journal/lease.ts';
export { CUSTODY_STATES, type CustodyMove, type CustodyState, LEGAL_MOVES } from './journal/legal-moves.ts';
export { decodeLine, encodeLine } from './journal/line-codec.ts';
export {
  type FoundJournal,
  journalPath,
  type OpenJournal,
  openJournal,
  releaseOnFailure,
} from './journal/open-journal.ts';
export { createJournalReader, parseJournal } from './journal/parse-journal.ts';
export { readJournal } from './journal/read-journal.ts';
export { findLastTime, resumeClock } from './journal/resume-clock.ts';
export { RECEIVED_FILE } from './journal/run-marks.ts';
export { createSystemDisk } from './journal/system-disk.ts';
export type { HomePlace } from './journal/versioned-file.ts';
export {
  type ClaimsList,
  changeClaims,
  claimsDirectory,
  isSameAttempt,
  type PoolClaim,
  readClaims,
  type Waiter,
  waiterOf,
} from './pools/claims-list.ts';
export { describeShortage, findShortage, type Shortage } from './pools/find-shortage.ts';
export { listPoolUse, type PoolUse } from './pools/list-pool-use.ts';
export {
  addToCacheIndex,
  type CacheEntry,
  type CacheIndex,
  listCachedRuns,
  readCacheIndex,
  removeFromCacheIndex,
} from './reuse/cache-index.ts';
export { checkReuse } from './reuse/check-reuse.ts';
export { createLookup, hasOutputs, isWithinReach, type LookedUp } from './reuse/create-lookup.ts';
export { digestCell } from './reuse/digest-cell.ts';
export { createIdentities } from './reuse/fingerprint-cell.ts';
export { createRemovalRecords } from './reuse/removal-records.ts';
export { createRerunCheck } from './reuse/rerun-check.ts';
export { createReusableRun, type ReusableRun } from './reuse/reusable-run.ts';
export { isDiskError, rejectDiskErrors } from './runs/disk-error.ts';
export { findCell } from './runs/find-cell.ts';
export { findRunId } from './runs/find-run-id.ts';
export { isHosted, listHosted, moveRun, restoreCustody, runCustody } from './runs/hosted-runs.ts';
export { keepEnd } from './runs/keep-end.ts';
export { type KnownDurations, readDurations } from './runs/known-durations.ts';
export { listRuns, readRunSummary } from './runs/list-runs.ts';
export { describeLostJournal, readRun, readRunFiles, replayFromHome } from './runs/read-run.ts';
export { readRunOrder } from './runs/read-run-order.ts';
export { readRunProcess } from './runs/read-run-process.ts';
export { readDetailedReport, reportRun } from './runs/report-run.ts';
export {
  hasPlan,
  limitReceivedPlan,
  listRunIds,
  parsePlan,
  planPath,
  readPlan,
  rejectUnreadablePlan,
  runDirectory,
  serializePlan,
  storePlan,
  writePlan,
} from './runs/run-home.ts';
export {
  hasSummary,
  readStoredSummary,
  readSummary,
  recordRemovedRun,
  type StoredSummary,
  summarize,
  writeSummary,
} from './runs/run-summary.ts';
export { describeSiblings } from './runs/siblings.ts';
export { announceStart, listStartingRuns, type StartAnnouncement, type StartingRun } from './runs/starting-run.ts';
export type { ReportFiles } from './runs/write-report.ts';
export { decideStarts, type OpenRun } from './schedule/decide-starts.ts';
export { decideTimes } from './schedule/decide-times.ts';
export { describeSettingsChange } from './schedule/describe-settings-change.ts';
export type { SchedulePlace } from './schedule/find-schedule.ts';
export { listPlannedTimes, type PlannedTimeReport } from './schedule/list-planned-times.ts';
export { listSchedules, type ScheduleSummary } from './schedule/list-schedules.ts';
export { parseRange, renderRange } from './schedule/parse-range.ts';
export { pauseSchedule, unpauseSchedule } from './schedule/pause-schedule.ts';
export { createPlannedTimes, describeScheduleFault, type PlannedTimes } from './schedule/planned-times.ts';
export { readScheduleSettings, recordScheduleSettings } from './schedule/record-settings.ts';
export { type RequestedBackfill, recordBackfill, requestBackfill } from './schedule/request-backfill.ts';
export { type RunLiveness, readRunLiveness } from './schedule/run-liveness.ts';
export type { ScheduleEvent } from './schedule/schedule-event.ts';
export {
  listScheduledRuns,
  openScheduleRecords,
  type ScheduleRecord,
  type ScheduleRecords,
} from './schedule/schedule-record.ts';
export { createTurnDeadline } from './turn-deadline.ts';
