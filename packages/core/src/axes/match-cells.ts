import { own } from '../model/own.ts';
import type { Cell, Plan, PlannedAxis, PlannedDependency, PlannedStep } from '../model/plan.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { type Batches, plannedCell } from './batches.ts';
import { createBinder, createListedKeys, type Row } from './bind-where.ts';
import { axesOfStep, type MatchRules, matchAxes } from './implied-axes.ts';
import { isListedAxis } from './listed-axes.ts';

/**
 * Which cells of a step each cell of another step means. The cells of the step that is read form groups by the axes that
 * both have, so that n cells that read n cells need space for n, not for n × n.
 */
export interface CellMatch {
  /** Each group has at most one cell, and each cell reads one group: the source is mounted directly. */
  readonly isSingle: boolean;
  /** `where` has a list for a cell: each cell in the directory is named by all its keys, also if the list has one. */
  readonly isList: boolean;
  /**
   * The cells agree on an axis that a step lists: each group stands for as many as there are items in the list of its cells,
   * which agree item by item.
   */
  readonly isByItem: boolean;
  /** `where` names items of a listed axis: the keys that each cell of the reader means, in the list that it reads. */
  readonly named?: { readonly axis: string; keysOf(cell: Cell): Result<readonly string[], string> };
  /** The axes by which the groups are formed. */
  readonly shared: readonly string[];
  readonly groupCount: number;
  /** The group of each cell of the source; -1: no cell reads it. */
  readonly groupOf: Int32Array;
  /** The groups that cell `c` of the reader reads are `reads[readStart[c]]` up to `reads[readStart[c + 1]]`. */
  readonly readStart: Int32Array;
  readonly reads: Int32Array;
}

/** Whether the cells of two steps are matched one by one: both have axes. Otherwise a reader means all cells. */
export function isMatched(reader: PlannedStep, source: PlannedStep): boolean {
  return reader.step.each !== undefined && source.step.each !== undefined;
}

/**
 * Matches the cells of a dependency between two steps with `each`, once for each plan. The error is about `where`; a plan
 * that was created has none.
 */
export function matchCells(plan: Plan, reader: PlannedStep, dependency: PlannedDependency): Result<CellMatch, string> {
  const ofPlan = REMEMBERED.get(plan) ?? new Map<PlannedDependency, Result<CellMatch, string>>();
  REMEMBERED.set(plan, ofPlan);
  const match = ofPlan.get(dependency) ?? createMatch(plan, reader, dependency);
  ofPlan.set(dependency, match);
  return match;
}

// The dependencies are those of the pipeline, and plans with other parameters have other cells.
const REMEMBERED = new WeakMap<Plan, Map<PlannedDependency, Result<CellMatch, string>>>();

/** Like `matchCells`, for a plan that was created. */
export function matchOf(plan: Plan, reader: PlannedStep, dependency: PlannedDependency): CellMatch {
  const matched = matchCells(plan, reader, dependency);
  if (!matched.ok) throw new Error(`cannot match the cells of step ${reader.step.name}: ${matched.error}`);
  return matched.value;
}

function createMatch(plan: Plan, reader: PlannedStep, { on, input }: PlannedDependency): Result<CellMatch, string> {
  const source = plan.steps[on]!;
  const has = axesOfStep(plan.pipeline, source.step);
  const { where: given, all } = own(reader.step.inputs, input ?? '') ?? {};
  const where = given && whereOf(plan, given, has);
  const rules: MatchRules = { ...(where !== undefined && { where }), ...(all !== undefined && { all }) };
  const { kept, shared, isSingle } = matchAxes(plan.pipeline, { reader: reader.step, source: source.step, rules });
  const groups = createGroups(plan.axes ?? {}, shared);
  const groupOf = Int32Array.from(source.cells ?? [], ({ each = {} }) => groups.add(each));
  const named = nameItems(plan, where);
  const both = kept.filter((axis) => (named === undefined ? shared : has).includes(axis));
  const bind =
    where === undefined
      ? ({ each = {} }: Cell) => ok({ rows: [each], isList: false })
      : createBinder(plan, { where, kept: both });
  const cells = reader.cells ?? [];
  const readStart = new Int32Array(cells.length + 1);
  const reads: number[] = [];
  let hasList = false;
  for (const [index, cell] of cells.entries()) {
    const bound = bind(cell);
    if (!bound.ok) return fail(`\`where\` of input \`${input}\`, cell ${cell.key}: ${bound.error}`);
    hasList ||= bound.value.isList || named?.isListOf(cell) === true;
    const found = bound.value.rows.map(groups.find).filter((group) => group >= 0);
    reads.push(...(found.length > 1 ? new Set(found) : found));
    readStart[index + 1] = reads.length;
  }
  return ok({
    ...{ isSingle: isSingle && !hasList, isList: hasList, shared, groupCount: groups.count(), groupOf },
    isByItem: shared.some((axis) => own(plan.axes ?? {}, axis)?.listedBy !== undefined),
    ...{ readStart, reads: Int32Array.from(reads) },
    ...(named && { named: { axis: named.axis, keysOf: named.keysOf(hasList) } }),
  });
}

/** Of several sources, one may have no cells for the listed axis of which `where` names an item. */
function whereOf(
  plan: Plan,
  where: NonNullable<MatchRules['where']>,
  has: readonly string[],
): NonNullable<MatchRules['where']> {
  return Object.fromEntries(
    Object.entries(where).filter(([axis]) => has.includes(axis) || !isListedAxis(plan.pipeline, axis)),
  );
}

/**
 * The items of a listed axis in `where`. Whether each is a directory is decided when the run is planned, so that a list that
 * only an item of that axis itself yields is refused.
 */
function nameItems(plan: Plan, where: MatchRules['where'] = {}) {
  const axis = Object.keys(where).find((name) => isListedAxis(plan.pipeline, name));
  if (axis === undefined) return undefined;
  const template = own(where, axis)!;
  const evaluate = createListedKeys(plan, template);
  return {
    axis,
    isListOf(cell: Cell): boolean {
      if (Array.isArray(template)) return true;
      const given = evaluate(cell);
      return given.ok && given.value.isList;
    },
    keysOf:
      (isDirectory: boolean) =>
      (cell: Cell): Result<readonly string[], string> => {
        const given = evaluate(cell);
        if (!given.ok) return given;
        if (given.value.isList && !isDirectory)
          return fail('it is a list of keys, which has to be written as one: `[KEY, KEY]`');
        return ok(given.value.keys);
      },
  };
}

/** Numbers the combinations of items of some axes. A cell without an item of one of them is in no group. */
function createGroups(axes: Readonly<Record<string, PlannedAxis>>, shared: readonly string[]) {
  const numbers = new Map<number | string, number>();
  const sizes = shared.map((axis) => own(axes, axis)!.keys.length);
  const isSmall = sizes.reduce((product, size) => product * size, 1) < Number.MAX_SAFE_INTEGER;
  const keyOf = (row: Row): number | string | undefined => {
    const items = shared.map((axis) => own(row, axis) ?? -1);
    if (items.some((item) => item < 0)) return undefined;
    return isSmall ? items.reduce((key, item, index) => key * sizes[index]! + item, 0) : items.join();
  };
  return {
    count: () => numbers.size,
    find(row: Row): number {
      const key = keyOf(row);
      return key === undefined ? -1 : (numbers.get(key) ?? -1);
    },
    add(row: Row): number {
      const key = keyOf(row);
      if (key === undefined) return -1;
      const known = numbers.get(key);
      if (known !== undefined) return known;
      numbers.set(key, numbers.size);
      return numbers.size - 1;
    },
  };
}

/** The place in its list of the item that `where` names, or one of `UNBOUND_ITEM`; of several items, their places in order. */
export type BoundItem = number | readonly number[];

/** By cell of a reader. */
export type BoundItems = ReadonlyMap<number, BoundItem>;

/** The cells of both steps of an edge that stand for lists, and what is known of their items. */
export interface EdgeBatches {
  readonly reader?: Batches | undefined;
  readonly source?: Batches | undefined;
  /** If `where` names an item of a list. */
  readonly bound?: BoundItems | undefined;
}

/** The places in the list of the source that a cell of the reader means; the first one until they are known. */
export function placesInList(
  cell: number,
  { reader, bound }: Pick<EdgeBatches, 'reader' | 'bound'>,
): readonly number[] {
  return bound === undefined ? [reader?.placeOf(cell) ?? 0] : placesOf(bound.get(cell) ?? 0);
}

/** The places that `where` names. */
export function placesOf(named: BoundItem): readonly number[] {
  if (typeof named !== 'number') return named;
  return named < 0 ? [] : [named];
}

/** The cells of the source that one cell of the reader means, in their order. */
export function matchedCells(
  match: CellMatch,
  cell: number,
  { reader, source, bound }: EdgeBatches = {},
): readonly number[] {
  const planned = plannedMatch(match, plannedCell(reader, cell));
  if (source === undefined) return planned;
  if (!match.isByItem) return planned.flatMap((batch) => source.members(batch));
  const places = placesInList(cell, { reader, bound });
  return planned.flatMap((batch) => places.map((place) => source.memberAt(batch, place)));
}

/** The groups that one cell of the reader reads, in the numbers of the plan. */
export function groupsOf({ readStart, reads }: CellMatch, planned: number): Int32Array {
  return reads.subarray(readStart[planned]!, readStart[planned + 1]!);
}

function plannedMatch(match: CellMatch, cell: number): readonly number[] {
  const members = membersOf(match);
  const groups = groupsOf(match, cell);
  if (groups.length === 1) return members[groups[0]!] ?? [];
  const found: number[] = [];
  for (const group of groups) found.push(...(members[group] ?? []));
  return found.sort((a, b) => a - b);
}

/** The cells of the source in one group, in their order. */
export function cellsOfGroup(match: CellMatch, group: number): readonly number[] {
  return membersOf(match)[group] ?? [];
}

const MEMBERS = new WeakMap<CellMatch, readonly (readonly number[])[]>();

function membersOf(match: CellMatch): readonly (readonly number[])[] {
  const known = MEMBERS.get(match);
  if (known !== undefined) return known;
  const members: number[][] = Array.from({ length: match.groupCount }, () => []);
  for (const [cell, group] of match.groupOf.entries()) if (group >= 0) members[group]!.push(cell);
  MEMBERS.set(match, members);
  return members;
}
