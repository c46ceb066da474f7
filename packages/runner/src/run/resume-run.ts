import { fail, ok, type Plan, type Result } from '@sluice/core';
import {
  type FoundJournal,
  type OpenJournal,
  openJournal,
  readJournal,
  readPlan,
  readSummary,
  rejectDiskErrors,
  rejectUnreadablePlan,
  releaseOnFailure,
  resolveGroup,
  runDirectory,
  summarize,
  wasOpened,
  writeSummary,
} from '@sluice/home';
import {
  applyRecord,
  type JournalRecord,
  type MoveListener,
  type ReplayedRun,
  type RunError,
  replayFiles,
} from '@sluice/run';
import { controlEntry } from '../concurrency/control-entry.ts';
import { enterGroup, type GroupRequest } from '../concurrency/enter-group.ts';
import { controlRun } from '../session/control-run.ts';
import { type NumberedOptions, numberEvents } from '../session/number-events.ts';
import { withDefaults } from '../session/run-defaults.ts';
import type { ResumeRunOptions, RunHandle, StartRunOptions } from '../session/run-options.ts';
import { concludeRun } from './conclude-run.ts';
import { executeRun } from './execute-run.ts';
import { provisionRun } from './provision-run.ts';
import { rejectUnbegun, removeUnbegun } from './reject-unbegun.ts';

/**
 * Resumes a run that no living runner executes, in this order: lock, read, query every open ID, and only then schedule.
 */
export function resumeRun(given: ResumeRunOptions): Promise<Result<RunHandle, RunError>> {
  const options = numberEvents(withDefaults(given), given.runId);
  return rejectDiskErrors(options.home, () => resume(options));
}

async function resume(options: NumberedOptions<ResumeRunOptions>): Promise<Result<RunHandle, RunError>> {
  const { disk, clock, runId } = options;
  const directory = runDirectory(options.home, runId);
  const read = await readPlan(disk, directory);
  if (!read.ok) return fail(rejectUnreadablePlan(runId, read.error));
  const plan = read.value;
  if (!plan) return fail(await rejectWithoutPlan(options, directory));
  const control = controlRun(clock);
  const isConfined = options.delivers === false && options.notifier !== undefined;
  const moves: MoveListener = {};
  let replayed: ReplayedRun | undefined;
  const reject = async (found: FoundJournal) => {
    const read = await replayFound(options, { directory, plan, found, moves });
    replayed = read.ok ? read.value : undefined;
    return read.ok ? undefined : read.error;
  };
  const open = () => openJournal(directory, { disk, clock, control: control.listener, isConfined, reject });
  const group = await findGroup(options, { directory, plan });
  if (!group.ok) return group;
  const mode = options.cancelBy === undefined ? 'resume' : 'force';
  const entry = controlEntry(options, directory);
  const opened = await (group.value === undefined
    ? open()
    : enterGroup({ ...options, ...group.value, plan, mode, control: entry, cancelLeft: cancelLeft(options) }, open));
  if (!opened.ok) return opened;
  return releaseOnFailure(opened.value, async () => {
    const cancelBy = options.cancelBy ?? entry.canceledBy();
    const given = { ...options, ...(cancelBy !== undefined && { cancelBy }) };
    const taken = await resumeFromJournal(given, { ...replayed!, plan, moves, opened: opened.value });
    if (taken.ok) control.attach(taken.value);
    else await opened.value.release();
    return taken;
  });
}

/** The run was killed while it was first written, or the home does not have it. */
async function rejectWithoutPlan(options: NumberedOptions<ResumeRunOptions>, directory: string): Promise<RunError> {
  const { disk, clock, runId, home } = options;
  const missing = { code: 'RUN_NOT_FOUND', message: `could not find run ${runId} in ${home}` } as const;
  if (!wasOpened(disk, directory)) return missing;
  const reject = async ({ records }: FoundJournal): Promise<RunError> => {
    // The plan is written before the first record, which is written before the summary and every container.
    const isRecorded = records.some(({ kind }) => kind === 'run');
    const hasBegun = isRecorded || (await readSummary(disk, directory)) !== undefined;
    return hasBegun ? missing : await removeUnbegun(options, directory);
  };
  const opened = await openJournal(directory, { disk, clock, isConfined: true, reject });
  if (!opened.ok) return opened.error;
  await opened.value.release();
  return missing;
}

/** The concurrency group that the run must enter to continue, and where its containers are. */
async function findGroup(
  { disk, runId }: NumberedOptions<ResumeRunOptions>,
  { directory, plan }: { readonly directory: string; readonly plan: Plan },
): Promise<Result<Pick<GroupRequest, 'group' | 'scope' | 'createdAt'> | undefined, RunError>> {
  const journal = plan.pipeline.concurrency && (await readJournal(disk, directory));
  const records = journal?.ok ? journal.value.records : [];
  const header = records.find((record) => record.kind === 'run');
  if (!header || records.some(({ kind }) => kind === 'finished')) return ok(undefined);
  const { clusterID, accountID } = header;
  const group = resolveGroup(plan, { runId, plannedTime: header.plannedTime });
  if (!group.ok || group.value === undefined) return group.ok ? ok(undefined) : group;
  return ok({ group: group.value, scope: { clusterID, accountID }, createdAt: header.at });
}

/** As the option `cancelLeft`, whose default resumes the run; this run's reporter receives none of its events. */
export function cancelLeft(
  options: NumberedOptions<ResumeRunOptions | StartRunOptions>,
): (runId: string, by: string) => Promise<void> {
  if (options.cancelLeft !== undefined) return options.cancelLeft;
  const { service, home, clock, disk, secrets, notifier, probe, allowance, delivers = true } = options;
  const others = {
    ...{ ...(secrets && { secrets }), ...(notifier && { notifier }), ...(probe && { probe }) },
    ...{ ...(allowance && { allowance }), delivers },
  };
  return async (runId, cancelBy) => {
    const resumed = await resumeRun({ service, home, clock, disk, ...others, runId, cancelBy, cancelsOnce: true });
    if (resumed.ok) await resumed.value.finished;
  };
}

/** Restores the run from its journal. Rejects one that this process must leave as it is. */
async function replayFound(
  options: NumberedOptions<ResumeRunOptions>,
  given: {
    readonly directory: string;
    readonly plan: Plan;
    readonly found: FoundJournal;
    readonly moves: MoveListener;
  },
): Promise<Result<ReplayedRun, RunError>> {
  const { disk, runId } = options;
  const { directory, plan, moves } = given;
  const { records, isReceived } = given.found;
  if (!records.some(({ kind }) => kind === 'run')) return fail(await rejectUnbegun(options, given));
  const replayed = replayFiles({ runId, directory, plan, records }, moves);
  if (!replayed.ok) return replayed;
  const { finished } = replayed.value.facts;
  // Without its status in the summary, the run has not been concluded.
  if (finished && (await readSummary(disk, directory))?.status !== undefined) {
    return fail({ code: 'RUN_FINISHED', message: `run ${runId} has finished: ${finished.status}` });
  }
  if (isReceived && !finished && !hasVolumes(records)) {
    return fail({ code: 'SOURCE_MISSING', message: `run ${runId} has no volumes: its sources were never uploaded` });
  }
  return replayed;
}

/** They are written right after the header; a crash of the machine may have kept only the header. */
function hasVolumes(records: readonly JournalRecord[]): boolean {
  return records.some(({ kind }) => kind === 'volumes');
}

/** Queries what the run left, and executes it. */
async function resumeFromJournal(
  options: NumberedOptions<ResumeRunOptions>,
  given: ReplayedRun & { readonly plan: Plan; readonly opened: OpenJournal; readonly moves: MoveListener },
): Promise<Result<RunHandle, RunError>> {
  const { directory, plan, opened, facts, scheduler, moves } = given;
  applyRecord(facts, opened.opening);
  if (facts.finished) return ok(await concludeRun(options, { ...given, status: facts.finished.status }));
  // It died right after its first record, or after that of its start. Without a summary, a run whose journal is lost has
  // never begun.
  const stored = await readSummary(options.disk, directory);
  if (stored === undefined || (stored.startedAt === undefined && facts.startedAt > 0))
    await writeSummary(options.disk, directory, summarize(facts));
  const scope = { clusterID: facts.header!.clusterID, accountID: facts.header!.accountID };
  const isProvisioned = hasVolumes(opened.records);
  const provisioned = await provisionRun({
    ...options,
    plan,
    scope,
    baseDir: facts.header!.baseDir,
    ...(isProvisioned && { frozen: facts.volumes }),
    ...(facts.header!.placement && { placement: facts.header!.placement }),
  });
  if (!provisioned.ok) return provisioned;
  const { instanceTypes, volumes, workspace } = provisioned.value;
  if (!isProvisioned) {
    const record = { kind: 'volumes', volumes } as const;
    applyRecord(facts, record);
    opened.journal.append(record);
  }
  const start = { options, directory, plan, opened, facts, scheduler, moves, instanceTypes, workspace };
  const isRequested = options.cancelsOnce === true && facts.canceledBy !== undefined;
  return ok(await executeRun({ ...start, resumed: true, cancelBy: isRequested ? undefined : options.cancelBy }));
}
