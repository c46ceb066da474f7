import { fail, ok, type Plan, type Result } from '@sluice/core';
import { controlRun } from '../control/control-run.ts';
import { concludeRun } from '../finish/conclude-run.ts';
import { controlEntry } from '../groups/control-entry.ts';
import { enterGroup, type GroupRequest } from '../groups/enter-group.ts';
import { resolveGroup } from '../groups/resolve-group.ts';
import { wasOpened } from '../journal/lease.ts';
import { type OpenJournal, openJournal, releaseOnFailure } from '../journal/open-journal.ts';
import { readJournal } from '../journal/read-journal.ts';
import { provisionRun } from '../provision/provision-run.ts';
import { applyRecord } from '../record/apply-record.ts';
import { refuseDiskErrors } from '../record/disk-error.ts';
import { type MoveListener, replayRun } from '../record/replay-run.ts';
import { readPlan, runDirectory } from '../record/run-home.ts';
import type { RunRefusal } from '../record/run-refusal.ts';
import { readSummary } from '../record/run-summary.ts';
import { type NumberedOptions, numberEvents } from '../session/number-events.ts';
import { withDefaults } from '../session/run-defaults.ts';
import type { ResumeRunOptions, RunHandle, StartRunOptions } from '../session/run-options.ts';
import { executeRun } from './execute-run.ts';
import { refuseUnbegun, removeUnbegun } from './refuse-unbegun.ts';

/**
 * Resumes a run that no living runner executes, in this order: lock, read, query every open ID, and only then schedule.
 */
export function resumeRun(given: ResumeRunOptions): Promise<Result<RunHandle, RunRefusal>> {
  const options = numberEvents(withDefaults(given), given.runId);
  return refuseDiskErrors(options.home, () => resume(options));
}

async function resume(options: NumberedOptions<ResumeRunOptions>): Promise<Result<RunHandle, RunRefusal>> {
  const { disk, clock, runId } = options;
  const directory = runDirectory(options.home, runId);
  const plan = await readPlan(disk, directory);
  if (!plan) return fail(await refuseWithoutPlan(options, directory));
  const control = controlRun();
  const open = () => openJournal(directory, { disk, clock, control: control.listener });
  const group = await findGroup(options, { directory, plan });
  if (!group.ok) return group;
  const mode = options.cancelBy === undefined ? 'resume' : 'force';
  const entry = controlEntry(disk, directory, options.signal);
  const opened = await (group.value === undefined
    ? open()
    : enterGroup({ ...options, ...group.value, plan, mode, control: entry, cancelLeft: cancelLeft(options) }, open));
  if (!opened.ok) return opened;
  return releaseOnFailure(opened.value, async () => {
    const cancelBy = options.cancelBy ?? entry.canceledBy();
    const given = { ...options, ...(cancelBy !== undefined && { cancelBy }) };
    const taken = await resumeFromJournal(given, { directory, plan, opened: opened.value });
    if (taken.ok) control.attach(taken.value);
    else await opened.value.release();
    return taken;
  });
}

/** The run was killed while it was first written, or the home does not have it. */
async function refuseWithoutPlan(options: NumberedOptions<ResumeRunOptions>, directory: string): Promise<RunRefusal> {
  const { disk, clock, runId, home } = options;
  const missing = { code: 'RUN_NOT_FOUND', message: `could not find run ${runId} in ${home}` } as const;
  if (!wasOpened(disk, directory)) return missing;
  const opened = await openJournal(directory, { disk, clock });
  if (!opened.ok) return opened.error;
  try {
    // The plan is written before the first record, which is written before the summary and every container.
    const isRecorded = opened.value.records.some(({ kind }) => kind === 'run');
    const hasBegun = isRecorded || (await readSummary(disk, directory)) !== undefined;
    return hasBegun ? missing : await removeUnbegun(options, directory);
  } finally {
    await opened.value.release();
  }
}

/** The concurrency group that the run must enter to continue, and where its containers are. */
async function findGroup(
  { disk, runId }: NumberedOptions<ResumeRunOptions>,
  { directory, plan }: { readonly directory: string; readonly plan: Plan },
): Promise<Result<Pick<GroupRequest, 'group' | 'scope' | 'startedAt'> | undefined, RunRefusal>> {
  const journal = plan.pipeline.concurrency && (await readJournal(disk, directory));
  const records = journal?.ok ? journal.value.records : [];
  const header = records.find((record) => record.kind === 'run');
  if (!header || records.some(({ kind }) => kind === 'finished')) return ok(undefined);
  const { clusterID, accountID } = header;
  const group = resolveGroup(plan, { runId, plannedTime: header.plannedTime ?? header.at });
  if (!group.ok || group.value === undefined) return group.ok ? ok(undefined) : group;
  return ok({ group: group.value, scope: { clusterID, accountID }, startedAt: header.at });
}

/** Cancels another run of the home by resuming it; this run's reporter receives none of its events. */
export function cancelLeft(
  options: NumberedOptions<ResumeRunOptions | StartRunOptions>,
): (runId: string, by: string) => Promise<void> {
  const { service, home, clock, disk, secrets, notifier, probe } = options;
  const others = { ...(secrets && { secrets }), ...(notifier && { notifier }), ...(probe && { probe }) };
  return async (runId, cancelBy) => {
    const resumed = await resumeRun({ service, home, clock, disk, ...others, runId, cancelBy });
    if (resumed.ok) await resumed.value.finished;
  };
}

/** Restores the run from its journal, queries what it left, and executes it. */
async function resumeFromJournal(
  options: NumberedOptions<ResumeRunOptions>,
  given: { readonly directory: string; readonly plan: Plan; readonly opened: OpenJournal },
): Promise<Result<RunHandle, RunRefusal>> {
  const { disk, runId } = options;
  const { directory, plan, opened } = given;
  const moves: MoveListener = {};
  const replayed = replayRun(plan, opened.records, moves);
  if (!replayed) return fail(await refuseUnbegun(options, given));
  const { facts, scheduler } = replayed;
  if (facts.finished) {
    const { status } = facts.finished;
    const summary = await readSummary(disk, directory);
    if (summary?.status === undefined) return ok(await concludeRun(options, { ...given, ...replayed, status }));
    return fail({ code: 'RUN_FINISHED', message: `run ${runId} has finished: ${status}` });
  }
  const scope = { clusterID: facts.header!.clusterID, accountID: facts.header!.accountID };
  // They are written right after the header; a crash of the machine may have kept only the header.
  const hasVolumes = opened.records.some(({ kind }) => kind === 'volumes');
  const provisioned = await provisionRun({
    ...options,
    plan,
    scope,
    baseDir: facts.header!.baseDir,
    ...(hasVolumes && { frozen: facts.volumes }),
    ...(facts.header!.placement && { placement: facts.header!.placement }),
  });
  if (!provisioned.ok) return provisioned;
  const { instanceTypes, volumes, workspace } = provisioned.value;
  if (!hasVolumes) {
    const record = { kind: 'volumes', volumes } as const;
    applyRecord(facts, record);
    opened.journal.append(record);
  }
  const start = { options, directory, plan, opened, facts, scheduler, moves, instanceTypes, workspace };
  return ok(await executeRun({ ...start, resumed: true, cancelBy: options.cancelBy }));
}
