import { fail, ok, type Plan, type Result } from '@sluice/core';
import { type OpenJournal, openJournal, releaseOnFailure } from '../journal/open-journal.ts';
import { controlRun } from './control-run.ts';
import { refuseDiskErrors } from './disk-error.ts';
import { driveRun } from './drive-run.ts';
import { prepareSurroundings } from './prepare-surroundings.ts';
import { type MoveListener, replayRun } from './replay-run.ts';
import { type FilledOptions, withDefaults } from './run-defaults.ts';
import { readPlan, runDirectory } from './run-home.ts';
import type { ResumeRunOptions, RunHandle, RunRefusal } from './run-options.ts';
import { summarize, writeSummary } from './run-summary.ts';

/**
 * Takes up a run that no living runner drives, in this order: lock, read, ask for every open ID, only then
 * schedule.
 */
export function resumeRun(given: ResumeRunOptions): Promise<Result<RunHandle, RunRefusal>> {
  const options = withDefaults(given);
  return refuseDiskErrors(options.home, () => resume(options));
}

async function resume(options: FilledOptions<ResumeRunOptions>): Promise<Result<RunHandle, RunRefusal>> {
  const { disk, clock, runId } = options;
  const directory = runDirectory(options.home, runId);
  const plan = await readPlan(disk, directory);
  if (!plan) return fail({ code: 'RUN_NOT_FOUND', message: `could not find run ${runId} in ${options.home}` });
  const control = controlRun();
  const opened = await openJournal(directory, { disk, clock, control: control.listener });
  if (!opened.ok) return opened;
  return releaseOnFailure(opened.value, async () => {
    const taken = await takeUp(options, { directory, plan, opened: opened.value });
    if (taken.ok) control.attach(taken.value);
    else await opened.value.release();
    return taken;
  });
}

/** Gives the run back from its journal, asks for what it left, and drives it. */
async function takeUp(
  options: FilledOptions<ResumeRunOptions>,
  given: { readonly directory: string; readonly plan: Plan; readonly opened: OpenJournal },
): Promise<Result<RunHandle, RunRefusal>> {
  const { disk, runId } = options;
  const { directory, plan, opened } = given;
  const moves: MoveListener = {};
  const replayed = replayRun(plan, opened.records, moves);
  if (!replayed) return fail({ code: 'RUN_NOT_FOUND', message: `run ${runId} had not begun when it was left` });
  const { facts, scheduler } = replayed;
  if (facts.finished) {
    // Its summary may be older: a crash came between the last record and that.
    await writeSummary(disk, directory, summarize(facts));
    return fail({ code: 'RUN_FINISHED', message: `run ${runId} is over: ${facts.finished.status}` });
  }
  const scope = { clusterID: facts.header!.clusterID, accountID: facts.header!.accountID };
  const surroundings = await prepareSurroundings({
    ...options,
    plan,
    scope,
    baseDir: facts.header!.baseDir,
    frozen: facts.volumes,
    ...(facts.header!.placement && { placement: facts.header!.placement }),
  });
  if (!surroundings.ok) return surroundings;
  const { instanceTypes, workspace } = surroundings.value;
  const start = { options, directory, plan, opened, facts, scheduler, moves, instanceTypes, workspace };
  return ok(await driveRun({ ...start, resumed: true, cancelBy: options.cancelBy }));
}
