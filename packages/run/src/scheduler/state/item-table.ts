import { axesOfStep, type Batches, createBatches, listedAxis, own, type Plan, plannedCell } from '@sluice/core';

/** A cell of the plan. Of one that stands for a list: the cell at this place of the list, or without a place all of them. */
export interface PlannedCells {
  readonly step: number;
  readonly cell: number;
  readonly place?: number | undefined;
}

/** The cells as far as they are known: none of an empty list. */
export function membersOf(
  batches: readonly (Batches | undefined)[],
  { step, cell, place }: PlannedCells,
): readonly number[] {
  const of = batches[step];
  if (of === undefined) return [cell];
  return place === undefined ? of.members(cell) : [of.memberAt(cell, place)];
}

/** The items of some axes with their cells outside `finally`, numbered over all axes. */
export interface ItemTable {
  /** By step: its items are those of an axis that another step lists, and each of its cells has one of them. */
  readonly isListed: readonly boolean[];
  /** The item of a planned cell, which stands for those of its list; -1: it has none. */
  plannedItem(step: number, cell: number): number;
  /** The item of a cell; -1: it has none. */
  itemOf(step: number, cell: number): number;
  /** The index of the axis of an item. */
  axisOf(item: number): number;
  cellsOf(item: number): readonly PlannedCells[];
  /** How many planned cells an item has; one of a list has a cell for each. */
  countCells(item: number): number;
  /** The items of a list, which stand for one until it is known. */
  readonly lists: Batches;
}

/** Numbers the items of these axes. A step has at most one of them (`checkEach`). */
export function createItemTable(
  plan: Plan,
  { names, batches }: { readonly names: readonly string[]; readonly batches: readonly (Batches | undefined)[] },
): ItemTable {
  const first: number[] = [];
  let itemCount = 0;
  for (const name of names) {
    first.push(itemCount);
    itemCount += own(plan.axes ?? {}, name)?.keys.length ?? 0;
  }
  const axes = plan.steps.map(({ step, final }) => {
    const all = final ? [] : axesOfStep(plan.pipeline, step);
    return names.findIndex((name) => all.includes(name));
  });
  const ofStep = plan.steps.map(({ cells = [] }, index) => {
    const axis = axes[index]!;
    if (axis < 0) return undefined;
    return Int32Array.from(cells, ({ each = {} }) => {
      const item = own(each, names[axis]!);
      return item === undefined ? -1 : first[axis]! + item;
    });
  });
  const { start, steps, cells } = groupCells(ofStep, itemCount);
  const axisOf = new Int32Array(itemCount);
  for (const [index, from] of first.entries()) axisOf.fill(index, from);
  const isListed = plan.steps.map(({ step }, index) => {
    const axis = listedAxis(plan.pipeline, step);
    return axis !== undefined && axis === names[axes[index]!];
  });
  const lists = createBatches(itemCount);
  const plannedItem = (step: number, cell: number): number => ofStep[step]?.[cell] ?? -1;
  return {
    ...{ isListed, lists, plannedItem },
    itemOf(step, cell) {
      const item = plannedItem(step, plannedCell(batches[step], cell));
      return item < 0 || !isListed[step] ? item : lists.memberAt(item, batches[step]!.placeOf(cell));
    },
    axisOf: (item) => axisOf[lists.batchOf(item)]!,
    cellsOf(item) {
      const planned = lists.batchOf(item);
      return Array.from({ length: start[planned + 1]! - start[planned]! }, (_, at) => {
        const step = steps[start[planned]! + at]!;
        return { step, cell: cells[start[planned]! + at]!, place: isListed[step] ? lists.placeOf(item) : undefined };
      });
    },
    countCells(item) {
      const planned = lists.batchOf(item);
      return start[planned + 1]! - start[planned]!;
    },
  };
}

/** The planned cells of each item: those of item `i` are from `start[i]` up to `start[i + 1]`. */
function groupCells(ofStep: readonly (Int32Array | undefined)[], itemCount: number) {
  const start = new Int32Array(itemCount + 1);
  for (const items of ofStep) for (const item of items ?? []) if (item >= 0) start[item + 1]!++;
  for (let item = 0; item < itemCount; item++) start[item + 1]! += start[item]!;
  const [steps, cells] = [new Int32Array(start[itemCount]!), new Int32Array(start[itemCount]!)];
  const next = start.slice(0, itemCount);
  for (const [step, items] of ofStep.entries()) {
    for (const [cell, item] of (items ?? []).entries()) {
      if (item < 0) continue;
      const at = next[item]!++;
      steps[at] = step;
      cells[at] = cell;
    }
  }
  return { start, steps, cells };
}
