import type { Result } from '@sluice/core';
import {
  answeredAtOf,
  compareBeforeApproval,
  describeApproval,
  findApprovals,
  type OpenApproval,
  type ReplayedRun,
  type RunSummary,
  stepIndex,
  stepsAfter,
} from '@sluice/run';

/** Where the approvals of a run are compared with those of earlier ones. */
export interface ApprovalsOptions {
  /** All runs of the home, newest first. */
  readonly runs: readonly RunSummary[];
  /** Reads an earlier run. The error is not used. */
  readonly read: (runId: string) => Promise<Result<ReplayedRun, unknown>>;
  /** Only those of a step, or of a cell of it (`STEP/CELL`). */
  readonly name?: string;
}

/** Approvals that are described at once: a step with `each` may have one for each of many cells. */
const MAX_APPROVALS = 100;
const MAX_RELEASED = 100;
const MAX_CHANGES = 50;
/** Earlier runs that are read to find the last approval. */
const MAX_EARLIER = 10;

/**
 * The approvals of a run that wait for an answer, in the order of the file, with what they ask and release, and what has
 * changed since the last approval of the same step. At most a hundred.
 */
export async function listOpenApprovals(run: ReplayedRun, options: ApprovalsOptions): Promise<OpenApproval[]> {
  const { facts } = run;
  const names =
    options.name === undefined
      ? facts.plan.steps.flatMap(({ step }) => (step.approval ? [step.name] : []))
      : [options.name];
  const places = names.flatMap((name) => findApprovals({ ...run, plan: facts.plan }, name)).slice(0, MAX_APPROVALS);
  const compared = new Map<number, OpenApproval['previous']>();
  for (const { step } of places) {
    if (!compared.has(step)) compared.set(step, await findPrevious(run, step, options));
  }
  return places.map(({ step, cell = 0 }) => {
    const previous = compared.get(step);
    return {
      step: facts.plan.steps[step]!.step.name,
      cell: facts.cells[step]?.[cell]?.key ?? '',
      cellIndex: cell,
      message: describeApproval(run, step, cell),
      releases: stepsAfter(facts.plan, step)
        .slice(0, MAX_RELEASED)
        .map((index) => facts.plan.steps[index]!.step.name),
      ...(previous && { previous }),
    };
  });
}

/** The newest earlier run in which the step was approved, in any of its cells. */
async function findPrevious(run: ReplayedRun, step: number, { runs, read }: ApprovalsOptions) {
  const { facts } = run;
  const { name } = facts.plan.steps[step]!.step;
  const own = runs.findIndex(({ runId }) => runId === run.runId);
  const earlier = runs.slice(own + 1).filter(({ pipeline }) => pipeline === facts.plan.pipeline.name);
  for (const { runId } of earlier.slice(0, MAX_EARLIER)) {
    const before = await read(runId);
    if (!before.ok) continue;
    const answeredAt = approvedAt(before.value, name);
    if (answeredAt === undefined) continue;
    const changes = compareBeforeApproval(before.value.facts, facts, name);
    return { runId, answeredAt, changes: changes.slice(0, MAX_CHANGES), changeCount: changes.length };
  }
  return undefined;
}

function approvedAt({ facts, scheduler }: ReplayedRun, name: string): number | undefined {
  const step = stepIndex(facts.plan, name);
  if (step === undefined) return undefined;
  for (let cell = 0; cell < (scheduler.cellCount(step) ?? 0); cell++) {
    const at = scheduler.state(step, cell) === 'succeeded' ? answeredAtOf(facts, step, cell) : undefined;
    if (at !== undefined) return at;
  }
  return undefined;
}
