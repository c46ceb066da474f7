import type { Result } from '@sluice/core';
import { type ReplayedRun, type RunSummary, splitCellName, stepIndex } from '@sluice/run';

/** The runs among which the previous one is searched. */
export interface PreviousRunOptions {
  /** `STEP` or `STEP/CELL`. */
  readonly step: string;
  /** All runs of the home, newest first. */
  readonly runs: readonly RunSummary[];
  /** Reads an earlier run. The error is not used. */
  readonly read: (runId: string) => Promise<Result<ReplayedRun, unknown>>;
}

/** Earlier runs that are read to find one with the step. */
const MAX_EARLIER = 10;

/** The newest earlier run of the same pipeline that has a step; undefined if none of the ten before has it. */
export async function findPreviousRun(
  { runId, facts }: Pick<ReplayedRun, 'runId' | 'facts'>,
  { step, runs, read }: PreviousRunOptions,
): Promise<ReplayedRun | undefined> {
  const name = splitCellName(step).step;
  const own = runs.findIndex((run) => run.runId === runId);
  const earlier = runs.slice(own + 1).filter(({ pipeline }) => pipeline === facts.plan.pipeline.name);
  for (const run of earlier.slice(0, MAX_EARLIER)) {
    const replayed = await read(run.runId);
    if (replayed.ok && stepIndex(replayed.value.facts.plan, name) !== undefined) return replayed.value;
  }
  return undefined;
}
