import { fail, ok, type Result } from '@sluice/core';
import { openJournal } from '../journal/open-journal.ts';
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
 * Takes up a run that no living runner drives, in the order of design §3: lock, read, ask for every open ID, only then
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
  const refuse = async (refusal: RunRefusal) => {
    await opened.value.release();
    return fail(refusal);
  };
  const moves: MoveListener = {};
  const replayed = replayRun(plan, opened.value.records, moves);
  if (!replayed) return refuse({ code: 'RUN_NOT_FOUND', message: `run ${runId} had not begun when it was left` });
  const { facts, scheduler } = replayed;
  if (facts.finished) {
    // Its summary may be older: a crash came between the last record and that.
    await writeSummary(disk, directory, summarize(facts));
    return refuse({ code: 'RUN_FINISHED', message: `run ${runId} is over: ${facts.finished.status}` });
  }
  const scope = { clusterID: facts.header!.clusterID, accountID: facts.header!.accountID };
  const surroundings = await prepareSurroundings({
    ...options,
    plan,
    scope,
    baseDir: facts.header!.baseDir,
    frozen: facts.volumes,
  });
  if (!surroundings.ok) return refuse(surroundings.error);
  const { instanceTypes, workspace } = surroundings.value;
  const start = { options, directory, plan, opened: opened.value, facts, scheduler, moves, instanceTypes, workspace };
  const handle = await driveRun({ ...start, resumed: true, cancelBy: options.cancelBy });
  control.attach(handle);
  return ok(handle);
}
