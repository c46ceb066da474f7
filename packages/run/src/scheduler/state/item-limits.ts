import { axesOfStep, type Batches, matchedCells, own, type Plan, plannedCell } from '@sluice/core';
import { CODE, FIRST_TERMINAL } from '../model/state-code.ts';
import { createKeyHeap, type KeyHeap } from './key-heap.ts';
import type { MatchTable } from './match-table.ts';

/**
 * The items of axes with `parallelism`. An item is in progress, and has a place, from when its first cell may start until
 * all of its cells outside `finally` have ended. The ready cells of other items stay out of the ready queue.
 *
 * An item in progress may wait for cells of others: by `where`, or by a directory of several items. They need a place
 * beyond the limit, because otherwise each could wait for the other. So whatever the cells of an item read, directly or
 * through other cells, may start as soon as the item is in progress. A step has at most one such axis (`checkAxes`).
 */
export interface ItemLimits {
  /** Whether a cell that has become ready may enter the ready queue. Otherwise `admit` returns it later. */
  mayEnter(step: number, cell: number): boolean;
  /** Gives free places to the best items that wait. Returns the ready cells of all items that have got a place. */
  admit(): readonly PlacedCell[];
  /** A cell has ended; once for each. */
  countEnd(step: number, cell: number): void;
  /** The cell that stood for a list is joined by others. */
  addCells(step: number, batch: number, added: number): void;
  /** The axis whose limit keeps a ready cell out of the queue. */
  blockedBy(step: number, cell: number): LimitedAxis | undefined;
  readonly axes: readonly LimitedAxis[];
}

/** An axis with `parallelism`. */
interface LimitedAxis {
  readonly name: string;
  readonly size: number;
  /** Items in progress. */
  readonly used: number;
}

interface PlacedCell {
  readonly step: number;
  readonly cell: number;
}

/** What the limits read of the run. */
interface CellReader {
  readonly matches: MatchTable;
  readonly batches: readonly (Batches | undefined)[];
  stateOf(step: number, cell: number): number;
  /** The key of a cell in the ready queue, and the cell of a key. */
  keyOf(step: number, cell: number): number;
  placeOf(key: number): PlacedCell;
}

interface Limits extends CellReader {
  readonly plan: Plan;
  readonly axes: readonly (LimitedAxis & { used: number; readonly waiting: KeyHeap })[];
  readonly items: ItemTable;
  /** By item: the cells that have not ended. */
  readonly open: Int32Array;
  readonly hasPlace: Uint8Array;
  /** 1: an item in progress waits for it. */
  readonly isNeeded: Uint8Array;
  readonly seen: SeenCells;
  placed: PlacedCell[];
}

/** Returns undefined if no axis has a limit. */
export function createItemLimits(plan: Plan, reader: CellReader): ItemLimits | undefined {
  const names = Object.entries(plan.pipeline.axes ?? {}).flatMap(([name, { parallelism }]) =>
    parallelism === undefined ? [] : [{ name, size: parallelism }],
  );
  if (names.length === 0) return undefined;
  const items = createItemTable(plan, names);
  const limits: Limits = {
    ...{ ...reader, plan, items, axes: names.map((axis) => ({ ...axis, used: 0, waiting: createKeyHeap() })) },
    ...{ open: items.count(), hasPlace: new Uint8Array(items.axisOf.length) },
    ...{ isNeeded: new Uint8Array(items.axisOf.length), seen: createSeenCells(plan), placed: [] },
  };
  const itemOf = (step: number, cell: number): number =>
    items.ofStep[step]?.[plannedCell(reader.batches[step], cell)] ?? -1;
  return {
    axes: limits.axes,
    mayEnter(step, cell) {
      const item = itemOf(step, cell);
      if (item < 0 || limits.hasPlace[item] === 1) return true;
      if (limits.isNeeded[item] === 1) givePlace(limits, item);
      else limits.axes[items.axisOf[item]!]!.waiting.push(reader.keyOf(step, cell));
      return false;
    },
    admit() {
      for (const axis of limits.axes) {
        while (axis.used < axis.size && axis.waiting.size > 0) {
          const { step, cell } = reader.placeOf(axis.waiting.pop());
          const item = itemOf(step, cell);
          // Its item may have a place meanwhile, and a cell may have been stopped.
          if (limits.hasPlace[item] === 0 && reader.stateOf(step, cell) === CODE.ready) givePlace(limits, item);
        }
      }
      const { placed } = limits;
      limits.placed = [];
      return placed;
    },
    countEnd(step, cell) {
      const item = itemOf(step, cell);
      if (item < 0 || --limits.open[item]! > 0 || limits.hasPlace[item] === 0) return;
      limits.hasPlace[item] = 0;
      limits.axes[items.axisOf[item]!]!.used--;
    },
    addCells(step, batch, added) {
      const item = itemOf(step, batch);
      if (item >= 0) limits.open[item]! += added;
    },
    blockedBy(step, cell) {
      const item = itemOf(step, cell);
      return item < 0 || limits.hasPlace[item] === 1 ? undefined : limits.axes[items.axisOf[item]!];
    },
  };
}

/** The cells of an item, with those of lists that are known. */
function cellsOf({ items, batches }: Limits, item: number): readonly PlacedCell[] {
  return items
    .cellsOf(item)
    .flatMap(({ step, cell }) => batches[step]?.members(cell).map((one) => ({ step, cell: one })) ?? [{ step, cell }]);
}

/** The item is in progress, and then also every other one that its cells wait for and that has a ready cell. */
function givePlace(limits: Limits, first: number): void {
  const { hasPlace, isNeeded } = limits;
  const admitted = [first];
  for (let item = admitted.pop(); item !== undefined; item = admitted.pop()) {
    if (hasPlace[item] === 1) continue;
    hasPlace[item] = 1;
    limits.axes[limits.items.axisOf[item]!]!.used++;
    const cells = cellsOf(limits, item);
    limits.placed.push(...cells.filter(({ step, cell }) => limits.stateOf(step, cell) === CODE.ready));
    for (const needed of findNeeded(limits, cells)) {
      isNeeded[needed] = 1;
      const isReady = cellsOf(limits, needed).some(({ step, cell }) => limits.stateOf(step, cell) === CODE.ready);
      if (isReady) admitted.push(needed);
    }
  }
}

/** The items of the cells that these wait for, directly or through other cells. Each cell is visited once in a run. */
function findNeeded(limits: Limits, cells: readonly PlacedCell[]): readonly number[] {
  const { plan, items, seen } = limits;
  const needed: number[] = [];
  const open = [...cells];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { step } = next;
    const cell = plannedCell(limits.batches[step], next.cell);
    // A cell that stood for a list says nothing about the others of it.
    const hasEnded = limits.batches[step] === undefined && limits.stateOf(step, cell) >= FIRST_TERMINAL;
    if (!seen.add(step, cell) || hasEnded) continue;
    const item = items.ofStep[step]?.[cell] ?? -1;
    if (item >= 0) needed.push(item);
    const edges = limits.matches.into.get(step) ?? [];
    for (const dependency of plan.steps[step]!.dependencies) {
      const { on } = dependency;
      const edge = edges.find((one) => one.dependency === dependency);
      if (edge !== undefined) for (const one of matchedCells(edge.match, cell)) open.push({ step: on, cell: one });
      else if (seen.addStep(on)) open.push(...allCells(plan, on));
    }
  }
  return needed;
}

/** The cells of a step, of which one without `each` counts as one: they wait for the same. */
function allCells(plan: Plan, step: number): readonly PlacedCell[] {
  const { step: declared, cells } = plan.steps[step]!;
  const count = declared.each === undefined ? 1 : (cells?.length ?? 0);
  return Array.from({ length: count }, (_, cell) => ({ step, cell }));
}

interface SeenCells {
  /** Whether the cell, or the step of which all cells are read, is new. */
  add(step: number, cell: number): boolean;
  addStep(step: number): boolean;
}

function createSeenCells({ steps }: Plan): SeenCells {
  const whole = new Uint8Array(steps.length);
  const byStep = new Map<number, Uint8Array>();
  const mark = (flags: Uint8Array, at: number): boolean => {
    if (flags[at] === 1) return false;
    flags[at] = 1;
    return true;
  };
  return {
    addStep: (step) => mark(whole, step),
    add(step, cell) {
      let flags = byStep.get(step);
      if (flags === undefined) {
        flags = new Uint8Array(steps[step]!.cells?.length ?? 1);
        byStep.set(step, flags);
      }
      return mark(flags, cell);
    },
  };
}

interface ItemTable {
  /** By step with such an axis outside `finally`: the item of each cell, numbered over all axes; -1 for none. */
  readonly ofStep: readonly (Int32Array | undefined)[];
  /** By item: the index of its axis. */
  readonly axisOf: Int32Array;
  cellsOf(item: number): readonly PlacedCell[];
  /** The number of cells of each item. */
  count(): Int32Array;
}

function createItemTable(plan: Plan, limited: readonly { readonly name: string }[]): ItemTable {
  const first: number[] = [];
  let itemCount = 0;
  for (const { name } of limited) {
    first.push(itemCount);
    itemCount += own(plan.axes ?? {}, name)?.keys.length ?? 0;
  }
  const ofStep = plan.steps.map(({ step, final, cells }) => {
    const axes = final ? [] : axesOfStep(plan.pipeline, step);
    const index = limited.findIndex(({ name }) => axes.includes(name));
    if (index < 0) return undefined;
    const { name } = limited[index]!;
    return Int32Array.from(cells ?? [], ({ each = {} }) => {
      const item = own(each, name);
      return item === undefined ? -1 : first[index]! + item;
    });
  });
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
  const axisOf = new Int32Array(itemCount);
  for (const [index, from] of first.entries()) axisOf.fill(index, from);
  return {
    ofStep,
    axisOf,
    cellsOf: (item) =>
      Array.from({ length: start[item + 1]! - start[item]! }, (_, at) => ({
        step: steps[start[item]! + at]!,
        cell: cells[start[item]! + at]!,
      })),
    count: () => Int32Array.from({ length: itemCount }, (_, item) => start[item + 1]! - start[item]!),
  };
}
