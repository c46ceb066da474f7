import { own } from '../model/own.ts';
import type { Cell, Plan, PlannedDependency } from '../model/plan.ts';
import type { Lists } from '../resolve/resolve-lists.ts';
import { type Batches, listedCell, listingIndex } from './batches.ts';
import { listedAxis } from './listed-axes.ts';
import { type BoundItem, type CellMatch, groupsOf, isMatched, matchOf } from './match-cells.ts';

/** In the place of an item: the key of `where` is empty, or the list does not have it, or one of several keys. */
export const UNBOUND_ITEM = { none: -1, unknown: -2 } as const;

/** A dependency whose `where` names items of a list. */
export interface BoundEdge {
  readonly reader: number;
  readonly dependency: PlannedDependency;
  readonly match: CellMatch;
  /** The planned cells of the reader that mean items of the list of one cell, in their order. */
  readersOf(listing: number): readonly number[];
}

const EDGES = new WeakMap<Plan, ReadonlyMap<number, readonly BoundEdge[]>>();

/** By the step that lists: the dependencies whose `where` names items of its lists, in the order of the plan. */
export function boundEdges(plan: Plan): ReadonlyMap<number, readonly BoundEdge[]> {
  const known = EDGES.get(plan);
  if (known !== undefined) return known;
  const found = new Map<number, BoundEdge[]>();
  for (const reader of plan.steps) {
    for (const dependency of reader.dependencies) {
      if (own(reader.step.inputs, dependency.input ?? '')?.where === undefined) continue;
      if (!isMatched(reader, plan.steps[dependency.on]!)) continue;
      const match = matchOf(plan, reader, dependency);
      if (match.named === undefined) continue;
      const listing = listingIndex(plan, match.named.axis);
      const edges = found.get(listing) ?? [];
      edges.push({ reader: reader.index, dependency, match, readersOf: createReaders(plan, dependency.on, match) });
      found.set(listing, edges);
    }
  }
  EDGES.set(plan, found);
  return found;
}

function createReaders(plan: Plan, source: number, match: CellMatch): BoundEdge['readersOf'] {
  const listingOf = new Int32Array(match.groupCount);
  for (const [cell, group] of match.groupOf.entries())
    if (group >= 0) listingOf[group] = own(plan.steps[source]!.cells![cell]!.each!, match.named!.axis)!;
  const readers = new Map<number, number[]>();
  for (let cell = 0; cell + 1 < match.readStart.length; cell++) {
    for (const group of groupsOf(match, cell)) {
      const others = readers.get(listingOf[group]!);
      if (others === undefined) readers.set(listingOf[group]!, [cell]);
      else others.push(cell);
    }
  }
  return (listing) => readers.get(listing) ?? [];
}

/**
 * The places of the items that `where` names in the lists of one cell: for each of `boundEdges`, those of the cells that
 * read it, in their order. Absent if there are none.
 */
export function bindListed(
  plan: Plan,
  { step, cell }: { readonly step: number; readonly cell: number },
  lists: Lists,
): { readonly bound?: readonly (readonly BoundItem[])[] } {
  const edges = boundEdges(plan).get(step) ?? [];
  if (edges.length === 0) return {};
  return {
    bound: edges.map(({ reader, match, readersOf }) => {
      const { axis, keysOf } = match.named!;
      const placeOf = new Map((own(lists, axis) ?? []).map(({ key }, place) => [key, place]));
      return cellsOfReaders(plan, { reader, planned: readersOf(cell), lists }).map((one): BoundItem => {
        const keys = keysOf(one);
        if (!keys.ok || !keys.value.every((key) => placeOf.has(key))) return UNBOUND_ITEM.unknown;
        const places = [...new Set(keys.value.map((key) => placeOf.get(key)!))].sort((a, b) => a - b);
        return match.isList ? places : (places[0] ?? UNBOUND_ITEM.none);
      });
    }),
  };
}

/** A reader over the listed axis has a cell for each item of the list. */
function cellsOfReaders(
  plan: Plan,
  { reader, planned, lists }: { readonly reader: number; readonly planned: readonly number[]; readonly lists: Lists },
): readonly Cell[] {
  const { step, cells } = plan.steps[reader]!;
  const axis = listedAxis(plan.pipeline, step);
  return planned.flatMap((one) => {
    if (axis === undefined) return [cells![one]!];
    return (own(lists, axis) ?? []).map((item) => listedCell(cells![one]!, axis, item));
  });
}

/** Calls `bind` for each cell of a reader with what it names, in the order of `bindListed`. */
export function forEachBound(
  { readersOf }: BoundEdge,
  { listing, batches, named }: { listing: number; batches: Batches | undefined; named: readonly BoundItem[] },
  bind: (cell: number, item: BoundItem) => void,
): void {
  const cells = readersOf(listing).flatMap((planned) => batches?.members(planned) ?? [planned]);
  if (cells.length !== named.length)
    throw new Error(`cannot bind the items of ${cells.length} cells: ${named.length} are recorded`);
  for (const [at, cell] of cells.entries()) bind(cell, named[at]!);
}
