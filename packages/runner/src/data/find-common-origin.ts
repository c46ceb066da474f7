import { cellPath } from '@sluice/core';
import { describeSiblings } from '@sluice/home';
import { type CellOrigin, findOrigin, type OutputSource } from '@sluice/run';

/**
 * The earlier run whose directory of the step can be mounted instead of ours: every cell is reused from it under the
 * same key, and that run has the same cells in the same order.
 */
export function findCommonOrigin(run: OutputSource, step: number): CellOrigin | undefined {
  const cells = run.facts.cells[step] ?? [];
  const known = run.facts.known[step];
  const first = known?.[0]?.cached;
  if (!first || first.siblings === '' || first.siblings !== describeSiblings(run.facts, step)) return undefined;
  const { name } = run.plan.steps[step]!.step;
  const isSame = cells.every((one, cell) => {
    const cached = known?.[cell]?.cached;
    if (cached?.runId !== first.runId || cached.step !== name || cached.cell !== one.key) return false;
    // A run that was planned with other readers may have nested the cells in another way.
    return (cached.path ?? cached.cell) === cellPath(run.plan, step, one);
  });
  return isSame ? findOrigin(run, step, 0) : undefined;
}
