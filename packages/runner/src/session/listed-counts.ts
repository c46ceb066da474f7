import type { RunFacts } from '@sluice/run';

/** The cells that the lists of a run add to its steps, from when a list is read: several can be read before one is recorded. */
export interface ListedCounts {
  /** How many cells a step has with lists of this size, for which these of its planned cells stand. */
  add(step: number, lists: readonly number[], size: number): number;
  /** The lists were rejected: they do not count. */
  drop(step: number, lists: readonly number[]): void;
}

/** Counts the lists of a run that are not recorded in its facts. */
export function createListedCounts(facts: Pick<RunFacts, 'cells' | 'batches'>): ListedCounts {
  /** By step and planned cell: how many cells its list adds. */
  const unrecorded = facts.batches.map(() => new Map<number, number>());
  return {
    add(step, lists, size) {
      const added = unrecorded[step]!;
      for (const list of lists) added.set(list, Math.max(0, size - 1));
      let count = facts.cells[step]!.length;
      for (const [list, more] of added) {
        if (facts.batches[step]!.sizeOf(list) === undefined) count += more;
        else added.delete(list);
      }
      return count;
    },
    drop(step, lists) {
      for (const list of lists) unrecorded[step]!.delete(list);
    },
  };
}
