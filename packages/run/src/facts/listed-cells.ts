import {
  type BoundItem,
  boundEdges,
  type Cell,
  forEachBound,
  type Lists,
  listedCell,
  listedSteps,
  matchedCells,
  matchOf,
  own,
  type PlannedDependency,
  plannedCell,
  UNBOUND_ITEM,
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
export function addListed(facts: RunFacts, { step, cell, bound = [] }: ListingEvent, lists: Lists = {}): void {
  let isFirst = false;
  for (const { axis, steps, batchesOf } of listedSteps(facts.plan).get(step) ?? []) {
    const items = own(lists, axis) ?? [];
    for (const of of steps) {
      // The first list of a step replaces the array of the plan by one of this run.
      const planned = facts.plan.steps[of]!.cells!;
      const cells = (facts.cells[of] === planned ? [...planned] : facts.cells[of]) as Cell[];
      facts.cells[of] = cells;
      for (const batch of batchesOf(of, cell)) {
        if (facts.batches[of]!.sizeOf(batch) !== undefined) continue;
        isFirst = true;
        facts.batches[of]!.expand(batch, items.length);
        for (const [place, item] of items.entries())
          cells[facts.batches[of]!.memberAt(batch, place)] = listedCell(planned[batch]!, axis, item);
      }
    }
  }
  if (!isFirst) return;
  for (const [at, edge] of (boundEdges(facts.plan).get(step) ?? []).entries()) {
    const known = facts.bound.get(edge.dependency) ?? new Map<number, BoundItem>();
    facts.bound.set(edge.dependency, known);
    const batches = facts.batches[edge.reader];
    forEachBound(edge, { listing: cell, batches, named: bound[at] ?? [] }, (reader, item) => known.set(reader, item));
  }
}

/** Why an input of a cell cannot name an item of a list; undefined if all can. */
export function findUnknownItem(
  { plan, cells, bound, batches }: Pick<RunFacts, 'plan' | 'cells' | 'bound' | 'batches'>,
  { step, cell }: { readonly step: number; readonly cell: number },
): string | undefined {
  const reader = plan.steps[step]!;
  for (const dependency of reader.dependencies) {
    if (bound.get(dependency)?.get(cell) !== UNBOUND_ITEM.unknown) continue;
    const match = matchOf(plan, reader, dependency);
    const { axis, keysOf } = match.named!;
    const keys = keysOf(cells[step]![cell]!);
    const what = `\`where\` of input \`${dependency.input}\` of step \`${reader.step.name}\``;
    if (!keys.ok) return `${what} cannot be evaluated: ${keys.error}`;
    const { on } = dependency;
    const listed = matchedCells(match, plannedCell(batches[step], cell)).flatMap((one) => batches[on]!.members(one));
    const known = new Set(listed.map((one) => cells[on]![one]!.listed!.key));
    const unknown = keys.value.find((key) => !known.has(key));
    return `${what} names the item \`${unknown}\` of axis \`${axis}\`, which is not in the list of \`${own(plan.axes!, axis)!.listedBy}\``;
  }
  return undefined;
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
  facts: Pick<RunFacts, 'plan' | 'batches' | 'bound'>,
  { step, cell }: { readonly step: number; readonly cell: number },
  dependency: PlannedDependency,
): readonly number[] {
  const { plan, batches, bound } = facts;
  const match = matchOf(plan, plan.steps[step]!, dependency);
  const edge = { bound: bound.get(dependency), reader: batches[step], source: batches[dependency.on] };
  return matchedCells(match, cell, edge);
}
