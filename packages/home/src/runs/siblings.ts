import { createHash } from 'node:crypto';
import type { Cell } from '@sluice/core';
import type { RunFacts } from '@sluice/run';

/** Computed once for each list: ten thousand cells need it ten thousand times. */
const known = new WeakMap<readonly Cell[], string>();

/**
 * A digest of the keys of a step's cells: equal for equal lists. A manifest lists the cells in their order. Empty for a step
 * over a listed axis, whose cells may become more: equal to no other.
 */
export function describeSiblings(facts: Pick<RunFacts, 'cells' | 'batches'>, step: number): string {
  const cells = facts.cells[step] ?? [];
  return facts.batches[step] === undefined ? digestKeys(cells) : '';
}

function digestKeys(cells: readonly Cell[]): string {
  let digest = known.get(cells);
  if (digest === undefined) {
    const keys = cells.map((cell) => cell.key);
    digest = createHash('sha256').update(JSON.stringify(keys)).digest('hex').slice(0, 32);
    known.set(cells, digest);
  }
  return digest;
}
