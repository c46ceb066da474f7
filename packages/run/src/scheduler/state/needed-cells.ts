import { type Batches, listingIndex, matchedCells, own, type Plan, placesOf, plannedCell } from '@sluice/core';
import { FIRST_TERMINAL } from '../model/state-code.ts';
import { membersOf, type PlannedCells } from './item-table.ts';
import type { MatchEdge, MatchTable } from './match-table.ts';

/** What the search reads of the run. */
export interface WaitingCells {
  readonly plan: Plan;
  readonly matches: Pick<MatchTable, 'into'>;
  readonly batches: readonly (Batches | undefined)[];
  stateOf(step: number, cell: number): number;
}

/** What the cells of items in progress wait for, each found once in a run. */
export interface NeededCells {
  /** These cells and those that they wait for, directly or through others, without what was found before. */
  find(cells: readonly PlannedCells[]): readonly PlannedCells[];
  /** What `where` names for a cell of the reader is known: what the cell waits for now. */
  bind(edge: MatchEdge, reader: number): readonly PlannedCells[];
}

/** Creates the search of a run. */
export function createNeededCells(run: WaitingCells): NeededCells {
  const { plan, matches, batches } = run;
  const found = createFoundCells(plan, batches);
  const find = (cells: readonly PlannedCells[]): readonly PlannedCells[] => {
    const needed: PlannedCells[] = [];
    const open = [...cells];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (!found.add(next) || haveEnded(run, next)) continue;
      needed.push(next);
      const edges = matches.into.get(next.step) ?? [];
      for (const dependency of plan.steps[next.step]!.dependencies) {
        const { on } = dependency;
        const edge = edges.find((one) => one.dependency === dependency);
        if (edge !== undefined) open.push(...cellsBehind(run, edge, next));
        else if (found.addStep(on)) open.push(...allCells(plan, on));
      }
    }
    return needed;
  };
  return {
    find,
    bind(edge, reader) {
      const cell = plannedCell(batches[edge.reader], reader);
      const at = { step: edge.reader, cell, place: batches[edge.reader]?.placeOf(reader) };
      return found.has(at) ? find(cellsBehind(run, edge, at)) : [];
    },
  };
}

function haveEnded(run: WaitingCells, cells: PlannedCells): boolean {
  return membersOf(run.batches, cells).every((cell) => run.stateOf(cells.step, cell) >= FIRST_TERMINAL);
}

/** What cells read by one edge. Of what `where` names in a list that is not known, only the cell that lists it. */
function cellsBehind(
  run: WaitingCells,
  { match, source, bound }: MatchEdge,
  cells: PlannedCells,
): readonly PlannedCells[] {
  const { plan } = run;
  const { cell, place } = cells;
  const planned = matchedCells(match, cell);
  if (bound === undefined)
    return planned.map((one) => ({ step: source, cell: one, place: match.isByItem ? place : undefined }));
  const { axis } = match.named!;
  return membersOf(run.batches, cells).flatMap((one): readonly PlannedCells[] => {
    const named = bound.get(one);
    if (named === undefined) {
      const listing = listingIndex(plan, axis);
      return planned.map((of) => ({ step: listing, cell: own(plan.steps[source]!.cells![of]!.each!, axis)! }));
    }
    return planned.flatMap((of) => placesOf(named).map((place) => ({ step: source, cell: of, place })));
  });
}

/** The cells of a step, of which one without `each` counts as one: they wait for the same. */
function allCells(plan: Plan, step: number): readonly PlannedCells[] {
  const { step: declared, cells } = plan.steps[step]!;
  const count = declared.each === undefined ? 1 : (cells?.length ?? 0);
  return Array.from({ length: count }, (_, cell) => ({ step, cell }));
}

interface FoundCells {
  has(cells: PlannedCells): boolean;
  /** Whether the cells, or the step of which all cells are read, are new. */
  add(cells: PlannedCells): boolean;
  addStep(step: number): boolean;
}

function createFoundCells({ steps }: Plan, batches: readonly (Batches | undefined)[]): FoundCells {
  const whole = new Uint8Array(steps.length);
  /** The planned cells, with all that they stand for. */
  const planned = steps.map(({ cells }) => new Uint8Array(cells?.length ?? 1));
  /** By step: cells of lists. */
  const listed = steps.map(() => new Set<number>());
  const has = ({ step, cell, place }: PlannedCells): boolean =>
    planned[step]![cell] === 1 || (place !== undefined && listed[step]!.has(batches[step]!.memberAt(cell, place)));
  return {
    has,
    add(cells) {
      if (has(cells)) return false;
      const { step, cell, place } = cells;
      if (place === undefined) planned[step]![cell] = 1;
      else listed[step]!.add(batches[step]!.memberAt(cell, place));
      return true;
    },
    addStep(step) {
      if (whole[step] === 1) return false;
      whole[step] = 1;
      return true;
    },
  };
}
