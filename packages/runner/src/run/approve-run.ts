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
import { type RunError, type RunFiles, replayFiles, stepIndex } from '@sluice/run';
import { askRunner } from '../session/ask-runner.ts';

/** A person's answer to an approval step. */
export interface ApprovalAnswer {
  /** May be shortened to an unambiguous prefix. */
  readonly runId: string;
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
    const reject = ({ records, clock: runClock }: FoundJournal) => {
      at = runClock.now();
      return findRejection({ runId: found.value, directory, plan: plan.value, records, step, at });
    };
    const opened = await openJournal(directory, { disk, clock, isConfined: true, reject });
    if (!opened.ok) return opened;
    const { journal, release } = opened.value;
    try {
      const index = stepIndex(plan.value!, step)!;
      journal.append({ kind: 'event', event: { type: 'approved', at, step: index, approved, by } });
      await journal.commit();
      return ok({ isApplied: false });
    } finally {
      await release();
    }
  });
}

/** Why the answer cannot be written to the journal at a time. */
function findRejection(
  given: Pick<ApprovalAnswer, 'step'> &
    Omit<RunFiles, 'plan'> & { readonly plan: Plan | undefined; readonly at: number },
): RunError | undefined {
  const { runId, directory, plan, records, step, at } = given;
  const played = plan && replayFiles({ runId, directory, plan, records });
  if (played?.ok === false && played.error.code === 'JOURNAL_DAMAGED') return played.error;
  const index = plan && stepIndex(plan, step);
  if (plan && index === undefined) {
    const names = plan.steps.map((one) => one.step.name);
    return { code: 'STEP_NOT_FOUND', message: `run ${runId} has no step ${describeUnknown(step, names)}` };
  }
  const scheduler = played?.ok ? played.value.scheduler : undefined;
  // Steps whose approval timeout has passed since the run was left.
  scheduler?.handle({ type: 'tick', at });
  if (index !== undefined && scheduler?.state(index) === 'awaitingApproval') return undefined;
  return { code: 'NOT_ASKED', message: `could not answer for ${step}: step ${step} does not wait for approval` };
}
