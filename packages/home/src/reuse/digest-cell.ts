import { type ContextSource, hasSucceeded } from '@sluice/run';

/**
 * The identity of a cell's outputs: the attempt that wrote them, in this run or in the run that is reused. Equal digests
 * mean equal contents. A fingerprint is not enough: two runs that do the same work at the same time may create different
 * contents. A success whose temporary outputs were created again is the one that it restores.
 */
export function digestCell(source: ContextSource, step: number, cell: number): string {
  const { runId, plan, facts, scheduler } = source;
  const known = facts.known[step]?.[cell];
  const isSuccess = hasSucceeded(source, step, cell);
  const reused = known?.cached ?? known?.missed?.restores;
  if (isSuccess && reused) return reused.fingerprint;
  const number = known?.winner ?? known?.attempts.at(-1)?.attempt ?? 0;
  const attempt = `${runId}/${plan.steps[step]!.step.name}/${cell}/${number}`;
  // The outputs of a failed cell may be incomplete.
  return isSuccess ? attempt : `${attempt}/${scheduler.state(step, cell)}`;
}
