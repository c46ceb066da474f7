import { own } from '../model/own.ts';
import type { Cell, Plan, PlannedStep } from '../model/plan.ts';
import { matchAxes } from './implied-axes.ts';
import { isMatched } from './match-cells.ts';

/** The directory of a cell that has no item of an axis. No key begins with a dot. */
const NO_ITEM = '.none';

const LAYOUTS = new WeakMap<Plan, Map<number, readonly string[]>>();

/**
 * The axes of a step in the order in which its published outputs are nested: first those by which other steps read groups
 * of its cells, so that such a group is one directory. Groups by axes that are no prefix of this order are mounted cell
 * by cell.
 */
export function layoutAxes(plan: Plan, step: number): readonly string[] {
  const known = LAYOUTS.get(plan) ?? new Map<number, readonly string[]>();
  LAYOUTS.set(plan, known);
  let order = known.get(step);
  if (order === undefined) {
    order = chooseOrder(plan, plan.steps[step]!);
    known.set(step, order);
  }
  return order;
}

function chooseOrder(plan: Plan, source: PlannedStep): readonly string[] {
  const groups = plan.steps
    .flatMap((reader) => sharedAxes(plan, reader, source))
    .sort((a, b) => a.length - b.length || (a.join() < b.join() ? -1 : 1));
  const order: string[] = [];
  for (const shared of groups) {
    if (order.every((axis) => shared.includes(axis))) order.push(...shared.filter((axis) => !order.includes(axis)));
  }
  return [...new Set([...order, ...(source.step.each ?? [])])];
}

/** By which axes a step reads directories of cells of another one. */
function sharedAxes(plan: Plan, reader: PlannedStep, source: PlannedStep): (readonly string[])[] {
  if (!isMatched(reader, source)) return [];
  return reader.dependencies.flatMap(({ on, data, input }) => {
    if (on !== source.index || !data) return [];
    const rules = own(reader.step.inputs, input ?? '') ?? {};
    const { shared, isSingle } = matchAxes(plan.pipeline, { reader: reader.step, source: source.step, rules });
    return isSingle || shared.length === 0 ? [] : [shared];
  });
}

/** The path of a cell's output below the directory of all cells: the key, or for `each` a directory for each axis. */
export function cellPath(plan: Plan, step: number, cell: Cell | undefined): string {
  if (cell?.each === undefined) return cell?.key ?? '';
  const { each } = cell;
  return layoutAxes(plan, step)
    .map((axis) => keyOf(plan, axis, own(each, axis)))
    .join('/');
}

/** The directory that has exactly the cells that agree with this one on these axes; undefined if there is none. */
export function groupPath(
  plan: Plan,
  step: number,
  { cell, shared }: { readonly cell: Cell; readonly shared: readonly string[] },
): string | undefined {
  const prefix = layoutAxes(plan, step).slice(0, shared.length);
  if (!prefix.every((axis) => shared.includes(axis))) return undefined;
  return prefix.map((axis) => keyOf(plan, axis, own(cell.each ?? {}, axis))).join('/');
}

/** The keys of a cell's items, by axis; undefined if the step has no axes. */
export function describeAxes(plan: Plan, { each }: Cell): Readonly<Record<string, string>> | undefined {
  if (each === undefined) return undefined;
  return Object.fromEntries(Object.entries(each).map(([axis, item]) => [axis, keyOf(plan, axis, item)]));
}

function keyOf(plan: Plan, axis: string, item: number | undefined): string {
  return item === undefined ? NO_ITEM : own(plan.axes ?? {}, axis)!.keys[item]!;
}
