import type { Batches, Plan } from '@sluice/core';
import { CODE } from '../model/state-code.ts';
import { resized } from './cell-table.ts';
import { createItemTable, type ItemTable, membersOf, type PlannedCells } from './item-table.ts';
import { createKeyHeap, type KeyHeap } from './key-heap.ts';
import type { MatchEdge, MatchTable } from './match-table.ts';
import { createNeededCells, type NeededCells } from './needed-cells.ts';

/**
 * The items of axes with `parallelism`. An item is in progress, and has a place, from when its first cell may start until
 * all of its cells outside `finally` have ended. The ready cells of other items stay out of the ready queue. The items of all
 * lists of an axis count together.
 *
 * An item in progress may wait for cells of others: by `where`, or by a directory of several items. They need a place
 * beyond the limit, because otherwise each could wait for the other. So whatever the cells of an item read, directly or
 * through other cells, may start as soon as the item is in progress. A step has at most one such axis (`checkEach`).
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
  /** What `where` names for a cell is known. */
  bind(edge: MatchEdge, reader: number): void;
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
  readonly axes: readonly (LimitedAxis & { used: number; readonly waiting: KeyHeap })[];
  readonly items: ItemTable;
  readonly needed: NeededCells;
  /** By item: the cells that have not ended. */
  open: Int32Array;
  hasPlace: Uint8Array;
  /** 1: an item in progress waits for it. */
  isNeeded: Uint8Array;
  /** By the item that stands for a list: 1: an item in progress waits for all of the list. */
  readonly isListNeeded: Uint8Array;
  placed: PlacedCell[];
}

/** Returns undefined if no axis has a limit. */
export function createItemLimits(plan: Plan, reader: CellReader): ItemLimits | undefined {
  const names = Object.entries(plan.pipeline.axes ?? {}).flatMap(([name, { parallelism }]) =>
    parallelism === undefined ? [] : [{ name, size: parallelism }],
  );
  if (names.length === 0) return undefined;
  const items = createItemTable(plan, { names: names.map(({ name }) => name), batches: reader.batches });
  const count = items.lists.planned;
  const limits: Limits = {
    ...{ ...reader, items, axes: names.map((axis) => ({ ...axis, used: 0, waiting: createKeyHeap() })) },
    open: Int32Array.from({ length: count }, (_, item) => items.countCells(item)),
    ...{ hasPlace: new Uint8Array(count), isNeeded: new Uint8Array(count), isListNeeded: new Uint8Array(count) },
    ...{ needed: createNeededCells({ ...reader, plan }), placed: [] },
  };
  const { itemOf } = items;
  return {
    axes: limits.axes,
    mayEnter(step, cell) {
      const item = itemOf(step, cell);
      if (item < 0 || limits.hasPlace[item] === 1) return true;
      if (limits.isNeeded[item] === 1 || limits.isListNeeded[items.lists.batchOf(item)] === 1)
        givePlaces(limits, [item]);
      else axisOf(limits, item).waiting.push(reader.keyOf(step, cell));
      return false;
    },
    admit() {
      for (const axis of limits.axes) {
        while (axis.used < axis.size && axis.waiting.size > 0) {
          const { step, cell } = reader.placeOf(axis.waiting.pop());
          const item = itemOf(step, cell);
          // Its item may have a place meanwhile, and a cell may have been stopped.
          if (limits.hasPlace[item] === 0 && reader.stateOf(step, cell) === CODE.ready) givePlaces(limits, [item]);
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
      axisOf(limits, item).used--;
    },
    addCells(step, batch, added) {
      const item = items.plannedItem(step, batch);
      if (item < 0) return;
      if (!items.isListed[step]) limits.open[item]! += added;
      else if (items.lists.sizeOf(item) === undefined) addItems(limits, item, added);
    },
    bind: (edge, cell) => givePlaces(limits, noteNeeded(limits, limits.needed.bind(edge, cell))),
    blockedBy(step, cell) {
      const item = itemOf(step, cell);
      return item < 0 || limits.hasPlace[item] === 1 ? undefined : axisOf(limits, item);
    },
  };
}

function axisOf({ axes, items }: Limits, item: number): Limits['axes'][number] {
  return axes[items.axisOf(item)]!;
}

/** The item that stood for a list is joined by others. */
function addItems(limits: Limits, item: number, added: number): void {
  const { from, to } = limits.items.lists.expand(item, added + 1);
  if (to > limits.open.length) {
    const space = 2 * to;
    limits.open = resized(limits.open, new Int32Array(space));
    limits.hasPlace = resized(limits.hasPlace, new Uint8Array(space));
    limits.isNeeded = resized(limits.isNeeded, new Uint8Array(space));
  }
  limits.open.fill(limits.items.countCells(item), from, to);
}

/** These items are in progress, and then also every other one that their cells wait for and that has a ready cell. */
function givePlaces(limits: Limits, items: readonly number[]): void {
  const { hasPlace } = limits;
  const admitted = [...items];
  for (let item = admitted.pop(); item !== undefined; item = admitted.pop()) {
    if (hasPlace[item] === 1) continue;
    hasPlace[item] = 1;
    axisOf(limits, item).used++;
    limits.placed.push(...readyCells(limits, item));
    admitted.push(...noteNeeded(limits, limits.needed.find(limits.items.cellsOf(item))));
  }
}

/** The items of these cells may begin beyond the limit. Returns those that have a ready cell. */
function noteNeeded(limits: Limits, cells: readonly PlannedCells[]): readonly number[] {
  const { items, isNeeded, isListNeeded } = limits;
  return cells.flatMap(({ step, cell, place }) => {
    const planned = items.plannedItem(step, cell);
    if (planned < 0) return [];
    const isOne = items.isListed[step] === true && place !== undefined;
    const flags = isOne ? isNeeded : isListNeeded;
    const one = isOne ? items.lists.memberAt(planned, place) : planned;
    if (flags[one] === 1) return [];
    flags[one] = 1;
    const needed = isOne ? [one] : items.lists.members(planned);
    return needed.filter((item) => readyCells(limits, item).length > 0);
  });
}

/** The ready cells of an item, with those of lists that are known. */
function readyCells({ items, batches, stateOf }: Limits, item: number): readonly PlacedCell[] {
  const cells = items
    .cellsOf(item)
    .flatMap((planned) => membersOf(batches, planned).map((cell) => ({ step: planned.step, cell })));
  return cells.filter(({ step, cell }) => stateOf(step, cell) === CODE.ready);
}
