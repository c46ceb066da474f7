import type { MatchTable } from './match-table.ts';
import { conditionOf, EDGE, type PlanIndex, STEP } from './plan-index.ts';

/** The steps and cells that use a service: one number, or one for each of its cells if it has `each`. */
export function countNeeders(
  { index, matches }: { readonly index: PlanIndex; readonly matches: MatchTable },
  step: number,
  cells: number,
): Int32Array {
  const users = new Int32Array((index.flags[step]! & STEP.each) === 0 ? 1 : cells).fill(countWholeUsers(index, step));
  for (const { isUse, match, readerStart } of matches.from.get(step) ?? []) {
    if (!isUse) continue;
    for (const [cell, group] of match.groupOf.entries())
      if (group >= 0) users[cell]! += readerStart[group + 1]! - readerStart[group]!;
  }
  return users;
}

/** The steps that use all cells of a service. */
function countWholeUsers({ edgeStart, edgeTo, edgeKind, flags }: PlanIndex, step: number): number {
  let count = 0;
  for (let edge = edgeStart[step]!; edge < edgeStart[step + 1]!; edge++) {
    const sameKind = ((flags[edgeTo[edge]!]! ^ flags[step]!) & STEP.final) === 0;
    const kind = edgeKind[edge]!;
    const isWhole = (kind & EDGE.early) !== 0 && (kind & EDGE.matched) === 0;
    if (isWhole && conditionOf(kind) !== 'skipped' && sameKind) count++;
  }
  return count;
}
