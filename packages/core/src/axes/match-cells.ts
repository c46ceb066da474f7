import { toCel } from '../expressions/cel-values.ts';
import { evaluateJson } from '../expressions/template.ts';
import type { Json } from '../model/json.ts';
import { own } from '../model/own.ts';
import type { Cell, Plan, PlannedAxis, PlannedDependency, PlannedStep } from '../model/plan.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { fixedContext } from '../plan/fixed-context.ts';
import { showJson } from '../render/show-json.ts';
import { type MatchRules, matchAxes } from './implied-axes.ts';
import { keyText } from './item-key.ts';

/**
 * Which cells of a step each cell of another step means. The cells of the step that is read form groups by the axes that
 * both have, so that n cells that read n cells need space for n, not for n × n.
 */
export interface CellMatch {
  /** Each group has at most one cell, and each cell reads one group: the source is mounted directly. */
  readonly isSingle: boolean;
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

/** Matches the cells of a dependency between two steps with `each`. The error is about `where`. */
export function matchCells(
  plan: Plan,
  reader: PlannedStep,
  dependency: Pick<PlannedDependency, 'on' | 'input'>,
): Result<CellMatch, string> {
  const source = plan.steps[dependency.on]!;
  const input = dependency.input === undefined ? undefined : own(reader.step.inputs, dependency.input);
  const rules: MatchRules = {
    ...(input?.where !== undefined && { where: input.where }),
    ...(input?.all !== undefined && { all: input.all }),
  };
  const { kept, shared, isSingle } = matchAxes(plan.pipeline, { reader: reader.step, source: source.step, rules });
  const axes = plan.axes ?? {};
  const groups = createGroups(axes, shared);
  const groupOf = Int32Array.from(source.cells ?? [], ({ each = {} }) => groups.add(each));
  const cells = reader.cells ?? [];
  const ownAxes = kept.filter((axis) => shared.includes(axis));
  const readStart = new Int32Array(cells.length + 1);
  const reads: number[] = [];
  const bind = rules.where === undefined ? undefined : createBinder(plan, rules.where);
  let hasList = false;
  for (const [index, cell] of cells.entries()) {
    const row = pick(cell, ownAxes);
    const bound = bind === undefined ? ok({ rows: [row], isList: false }) : bind(cell, row);
    if (!bound.ok) return fail(`\`where\` of input \`${dependency.input}\`, cell ${cell.key}: ${bound.error}`);
    hasList ||= bound.value.isList;
    const found = new Set<number>();
    for (const row of bound.value.rows) {
      const group = groups.find(row);
      if (group >= 0) found.add(group);
    }
    reads.push(...found);
    readStart[index + 1] = reads.length;
  }
  return ok({
    ...{ isSingle: isSingle && !hasList, shared, groupCount: groups.count(), groupOf },
    ...{ readStart, reads: Int32Array.from(reads) },
  });
}

type Row = Readonly<Record<string, number>>;

function pick({ each = {} }: Cell, axes: readonly string[]): Row {
  const row: Record<string, number> = {};
  for (const axis of axes) if (each[axis] !== undefined) row[axis] = each[axis];
  return row;
}

/** Numbers the combinations of items of some axes. A cell without an item of one of them is in no group. */
function createGroups(axes: Readonly<Record<string, PlannedAxis>>, shared: readonly string[]) {
  const numbers = new Map<number | string, number>();
  const sizes = shared.map((axis) => axes[axis]!.keys.length);
  const isSmall = sizes.reduce((product, size) => product * size, 1) < Number.MAX_SAFE_INTEGER;
  const keyOf = (row: Row): number | string | undefined => {
    if (shared.some((axis) => row[axis] === undefined || row[axis] < 0)) return undefined;
    if (!isSmall) return shared.map((axis) => row[axis]).join();
    return shared.reduce((key, axis, index) => key * sizes[index]! + row[axis]!, 0);
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

interface Bound {
  readonly rows: readonly Row[];
  /** Whether `where` has a list for this cell. */
  readonly isList: boolean;
}

/** Returns the combinations of items that a cell means: its own, with those of `where` and what they imply. */
function createBinder(
  plan: Plan,
  where: NonNullable<MatchRules['where']>,
): (cell: Cell, own: Row) => Result<Bound, string> {
  const axes = plan.axes ?? {};
  const fixed = fixedContext(plan);
  const placesOf = new Map(
    Object.keys(where).map((axis) => [axis, new Map(axes[axis]!.keys.map((key, place) => [key, place]))]),
  );
  return (cell, own) => {
    const context = { ...fixed, each: itemsOf(axes, cell) };
    let rows: readonly Row[] = [{}];
    let hasList = false;
    for (const [axis, template] of Object.entries(where)) {
      const evaluated = evaluateJson(template as Json, () => context);
      if (!evaluated.ok) return evaluated;
      const { value } = evaluated.value;
      hasList ||= Array.isArray(value);
      const items: Row[] = [];
      for (const key of Array.isArray(value) ? (value as readonly Json[]) : [value]) {
        // As a field of a `distinct` axis, an empty value is no item.
        if (key === '' || key === null) continue;
        const place = placesOf.get(axis)!.get(keyText(key) ?? '');
        if (place === undefined) return fail(`axis \`${axis}\` has no item ${showJson(key)}`);
        items.push(withImplied(axes, axis, place));
      }
      rows = rows.flatMap((row) => items.filter((item) => agree(row, item)).map((item) => ({ ...row, ...item })));
    }
    // What the cell keeps of its own can imply other items than those of `where`.
    const kept = Object.entries(own).map(([axis, item]) => withImplied(axes, axis, item));
    return ok({
      rows: rows.map((row) => ({ ...own, ...row })).filter((row) => kept.every((item) => agree(row, item))),
      isList: hasList,
    });
  };
}

function agree(row: Row, other: Row): boolean {
  return Object.entries(other).every(([axis, item]) => row[axis] === undefined || row[axis] === item);
}

/** An item and those that it implies; -1: none. */
function withImplied(axes: Readonly<Record<string, PlannedAxis>>, axis: string, item: number): Row {
  const row: Record<string, number> = { [axis]: item };
  for (const [other, items] of Object.entries(axes[axis]!.implies)) row[other] = items[item]!;
  return row;
}

/** The items of a cell as expressions read them, by axis. */
export function itemsOf(
  axes: Readonly<Record<string, PlannedAxis>>,
  { each = {} }: Cell,
): ReadonlyMap<string, unknown> {
  return new Map(
    Object.entries(each).map(([axis, place]) => {
      const { items, doubles } = axes[axis]!;
      return [axis, toCel(items[place]!, doubles)] as const;
    }),
  );
}

// The dependencies are those of the pipeline, and plans with other parameters have other cells.
const REMEMBERED = new WeakMap<Plan, Map<PlannedDependency, CellMatch>>();

/** Like `matchCells`, for a plan whose dependencies have been matched once without a fault. */
export function matchOf(plan: Plan, reader: PlannedStep, dependency: PlannedDependency): CellMatch {
  const ofPlan = REMEMBERED.get(plan) ?? new Map<PlannedDependency, CellMatch>();
  REMEMBERED.set(plan, ofPlan);
  const known = ofPlan.get(dependency);
  if (known !== undefined) return known;
  const matched = matchCells(plan, reader, dependency);
  if (!matched.ok) throw new Error(`cannot match the cells of step ${reader.step.name}: ${matched.error}`);
  ofPlan.set(dependency, matched.value);
  return matched.value;
}

/** The cells of the source that one cell of the reader means, in their order. */
export function matchedCells(match: CellMatch, cell: number): readonly number[] {
  const members = membersOf(match);
  const { readStart, reads } = match;
  const [from, to] = [readStart[cell]!, readStart[cell + 1]!];
  if (to - from === 1) return members[reads[from]!] ?? [];
  const found: number[] = [];
  for (let at = from; at < to; at++) found.push(...(members[reads[at]!] ?? []));
  return found.sort((a, b) => a - b);
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
