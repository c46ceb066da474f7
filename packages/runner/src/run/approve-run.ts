import path from 'node:path';
import { describeUnknown, fail, ok, type Plan, type Result } from '@sluice/core';
import {
  type Clock,
  createSystemClock,
  createSystemDisk,
  type Disk,
  type FoundJournal,
  findRunId,
  openJournal,
  readPlan,
  rejectDiskErrors,
  rejectUnreadablePlan,
  runDirectory,
} from '@sluice/home';
import {
  type ApprovalPlace,
  findApprovals,
  type RunError,
  type RunFiles,
  replayFiles,
  splitCellName,
  stepIndex,
} from '@sluice/run';
import { askRunner } from '../session/ask-runner.ts';

/** A person's answer to an approval step. */
export interface ApprovalAnswer {
  /** May be shortened to an unambiguous prefix. */
  readonly runId: string;
  /** `STEP`, or `STEP/CELL` for one cell of a step with `each`. */
  readonly step: string;
  readonly approved: boolean;
  readonly by: string;
}

/**
 * Passes a person's answer to the living runner of a run. If no process executes the run, the answer is written to the
 * journal and `isApplied` is false: it takes effect when the run is resumed.
 */
export async function approveRun(
  home: string,
  answer: ApprovalAnswer,
  { disk = createSystemDisk(), clock = createSystemClock() }: { readonly disk?: Disk; readonly clock?: Clock } = {},
): Promise<Result<{ readonly isApplied: boolean }, RunError>> {
  const root = path.resolve(home);
  const found = await findRunId(disk, root, answer.runId);
  if (!found.ok) return found;
  const { step, approved, by } = answer;
  const directory = runDirectory(root, found.value);
  const said = await askRunner({ disk, clock }, directory, { verb: 'approve', step, approved, by });
  if (said === 'ok') return ok({ isApplied: true });
  if (said !== undefined) return fail({ code: 'NOT_ASKED', message: `could not answer for ${step}: ${said}` });
  return rejectDiskErrors(root, async () => {
    const plan = await readPlan(disk, directory);
    if (!plan.ok) return fail(rejectUnreadablePlan(found.value, plan.error));
    let at = 0;
    let places: readonly ApprovalPlace[] = [];
    const reject = ({ records, clock: runClock }: FoundJournal) => {
      at = runClock.now();
      const waiting = findWaiting({ runId: found.value, directory, plan: plan.value, records, step, at });
      if (waiting.ok) places = waiting.value;
      return waiting.ok ? undefined : waiting.error;
    };
    const opened = await openJournal(directory, { disk, clock, isConfined: true, reject });
    if (!opened.ok) return opened;
    const { journal, release } = opened.value;
    try {
      for (const place of places)
        journal.append({ kind: 'event', event: { type: 'approved', at, ...place, approved, by } });
      await journal.commit();
      return ok({ isApplied: false });
    } finally {
      await release();
    }
  });
}

/** The approvals that the answer is for at a time, or why it cannot be written to the journal. */
function findWaiting(
  given: Pick<ApprovalAnswer, 'step'> &
    Omit<RunFiles, 'plan'> & { readonly plan: Plan | undefined; readonly at: number },
): Result<readonly ApprovalPlace[], RunError> {
  const { runId, directory, plan, records, step, at } = given;
  const played = plan && replayFiles({ runId, directory, plan, records });
  if (played?.ok === false && played.error.code === 'JOURNAL_DAMAGED') return fail(played.error);
  const { step: name } = splitCellName(step);
  if (plan && stepIndex(plan, name) === undefined) {
    const names = plan.steps.map((one) => one.step.name);
    return fail({ code: 'STEP_NOT_FOUND', message: `run ${runId} has no step ${describeUnknown(name, names)}` });
  }
  if (played?.ok) {
    const { scheduler, facts } = played.value;
    // Steps whose approval timeout has passed since the run was left.
    scheduler.handle({ type: 'tick', at });
    const waiting = findApprovals({ plan: facts.plan, facts, scheduler }, step);
    if (waiting.length > 0) return ok(waiting);
  }
  return fail({ code: 'NOT_ASKED', message: `could not answer for ${step}: step ${step} does not wait for approval` });
}
