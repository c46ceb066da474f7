import path from 'node:path';
import { describeUnknown, fail, ok, type Result } from '@sluice/core';
import { type Clock, createSystemClock } from '../clock.ts';
import { askRunner } from '../control/ask-runner.ts';
import type { Disk } from '../journal/disk.ts';
import { type OpenJournal, openJournal } from '../journal/open-journal.ts';
import { createSystemDisk } from '../journal/system-disk.ts';
import { refuseDiskErrors } from '../record/disk-error.ts';
import { findRunId } from '../record/find-run-id.ts';
import { replayRun } from '../record/replay-run.ts';
import { readPlan, runDirectory } from '../record/run-home.ts';
import type { RunRefusal } from '../record/run-refusal.ts';
import { stepIndex } from '../record/step-context.ts';

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
 * journal and `driven` is false: it takes effect when the run is resumed.
 */
export async function approveRun(
  home: string,
  answer: ApprovalAnswer,
  { disk = createSystemDisk(), clock = createSystemClock() }: { readonly disk?: Disk; readonly clock?: Clock } = {},
): Promise<Result<{ readonly driven: boolean }, RunRefusal>> {
  const root = path.resolve(home);
  const found = await findRunId(disk, root, answer.runId);
  if (!found.ok) return found;
  const { step, approved, by } = answer;
  const directory = runDirectory(root, found.value);
  const said = await askRunner(disk, directory, { verb: 'approve', step, approved, by });
  if (said === 'ok') return ok({ driven: true });
  if (said !== undefined) return fail({ code: 'NOT_ASKED', message: `could not answer for ${step}: ${said}` });
  return refuseDiskErrors(root, async () => {
    const opened = await openJournal(directory, { disk, clock });
    if (!opened.ok) return opened;
    try {
      return await writeAnswer(opened.value, {
        ...answer,
        plan: await readPlan(disk, directory),
        at: opened.value.clock.now(),
      });
    } finally {
      await opened.value.release();
    }
  });
}

async function writeAnswer(
  { records, journal }: OpenJournal,
  answer: ApprovalAnswer & { readonly plan: Awaited<ReturnType<typeof readPlan>>; readonly at: number },
): Promise<Result<{ readonly driven: boolean }, RunRefusal>> {
  const { plan, at, approved, by } = answer;
  const replayed = plan && replayRun(plan, records);
  // Steps whose approval timeout has passed since the run was left.
  replayed?.scheduler.handle({ type: 'tick', at });
  const step = plan && stepIndex(plan, answer.step);
  if (plan && step === undefined) {
    const names = plan.steps.map((one) => one.step.name);
    const message = `run ${answer.runId} has no step ${describeUnknown(answer.step, names)}`;
    return fail({ code: 'STEP_NOT_FOUND', message });
  }
  if (!replayed || step === undefined || replayed.scheduler.state(step) !== 'awaitingApproval') {
    const message = `could not answer for ${answer.step}: step ${answer.step} does not wait for approval`;
    return fail({ code: 'NOT_ASKED', message });
  }
  journal.append({ kind: 'event', event: { type: 'approved', at, step, approved, by } });
  await journal.commit();
  return ok({ driven: false });
}
