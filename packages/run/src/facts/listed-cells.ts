import {
  type Cell,
  type Lists,
  listedCell,
  listedSteps,
  matchedCells,
  matchOf,
  own,
  type PlannedDependency,
} from '@sluice/core';
import type { EventFacts } from '../records/journal-record.ts';
import type { SchedulerEvent } from '../scheduler/model/event.ts';
import type { RunFacts } from './run-facts.ts';

type ListingEvent = Extract<SchedulerEvent, { readonly type: 'published' | 'cacheHit' }>;

/** How many items a cell has listed, by axis, as the scheduler receives it; nothing for a cell that lists none. */
export function countListed(lists: Lists): { readonly lists?: Readonly<Record<string, number>> } {
  const counts = Object.entries(lists).map(([axis, items]) => [axis, items.length] as const);
  return counts.length === 0 ? {} : { lists: Object.fromEntries(counts) };
}

/** Throws if an event counts other items than are recorded with it. */
export function checkListed({ step, cell, lists = {} }: ListingEvent, recorded: EventFacts): void {
  const counted = countListed(recorded.lists ?? {}).lists ?? {};
  const isSame =
    Object.keys(counted).length === Object.keys(lists).length &&
    Object.entries(counted).every(([axis, count]) => own(lists, axis) === count);
  if (!isSame) throw new Error(`cannot describe what cell ${cell} of step ${step} lists: other items are recorded`);
}

/** The items that a cell has listed become cells, as in the scheduler. Only the first list of a cell counts. */
export function addListed(facts: RunFacts, { step, cell }: ListingEvent, lists: Lists = {}): void {
  for (const { axis, steps, batchesOf } of listedSteps(facts.plan).get(step) ?? []) {
    const items = own(lists, axis) ?? [];
    for (const of of steps) {
      // The first list of a step replaces the array of the plan by one of this run.
      const planned = facts.plan.steps[of]!.cells!;
      const cells = (facts.cells[of] === planned ? [...planned] : facts.cells[of]) as Cell[];
      facts.cells[of] = cells;
      for (const batch of batchesOf(of, cell)) {
        if (facts.batches[of]!.sizeOf(batch) !== undefined) continue;
        facts.batches[of]!.expand(batch, items.length);
        for (const [place, item] of items.entries())
          cells[facts.batches[of]!.memberAt(batch, place)] = listedCell(planned[batch]!, axis, item);
      }
    }
  }
}

/** The cells of a step in the order of its items, without those that stood for an empty list. */
export function cellsInOrder({ cells, batches }: Pick<RunFacts, 'cells' | 'batches'>, step: number): readonly number[] {
  const of = batches[step];
  const known = cells[step] ?? [];
  if (of === undefined) return known.map((_, cell) => cell);
  return Array.from({ length: of.planned }, (_, batch) => batch).flatMap(of.members);
}

/** The cells that a cell of a step with `each` means by a dependency on another one, in their order. */
export function cellsMeant(
  facts: Pick<RunFacts, 'plan' | 'batches'>,
  { step, cell }: { readonly step: number; readonly cell: number },
  dependency: PlannedDependency,
): readonly number[] {
  const { plan, batches } = facts;
  const match = matchOf(plan, plan.steps[step]!, dependency);
  return matchedCells(match, cell, { reader: batches[step], source: batches[dependency.on] });
}
