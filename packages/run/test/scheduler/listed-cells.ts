import type { Cell, Plan } from '@sluice/core';
import type { SchedulerEvent } from '../../src/scheduler/model/event.ts';
import type { Scheduler } from '../../src/scheduler/scheduler.ts';

/** The cells of a plan as they become known, written down independently of the scheduler. */
export interface ListedCells {
  /** Its cells change: each item of the axis `l` has a number of its own in `each`. */
  readonly plan: Plan;
  onHandled(event: SchedulerEvent, scheduler: Scheduler): void;
  /** How many cells a step has, without those that stood for empty lists. */
  count(step: number, scheduler: Scheduler): number;
  /** Whether no cell of a step stands for a list any more. */
  areComplete(step: number, scheduler: Scheduler): boolean;
}

/** Of a cell that stood for an empty list: no reader means it. */
export const EMPTY = 'empty list';
/** Of a cell that stands for a list that is not known. */
export const isOfList = ({ key }: Cell): boolean => key.includes('*');
/** The key of an item of a list. */
export const listKey = (item: number): string => `k${item}`;
/** Items of one list have the numbers from a multiple of this one. */
export const MOST = 1000;

/** The cells before the first event: those over `l` stand for lists. */
export function createListedCells(given: Plan): ListedCells {
  const numbered = (cell: Cell, item: number): Cell => ({
    ...cell,
    each: { ...cell.each, l: cell.each!.l! * MOST + item },
  });
  const steps = given.steps.map((planned) => {
    const isListed = planned.step.each?.includes('l') === true;
    return { ...planned, cells: planned.cells?.map((cell) => (isListed ? numbered(cell, 0) : cell)) };
  });
  const listed = new Set<number>();
  return {
    plan: { ...given, steps },
    onHandled(event, scheduler) {
      if ((event.type !== 'published' && event.type !== 'cacheHit') || event.lists === undefined) return;
      const state = scheduler.state(event.step, event.cell);
      if (listed.has(event.cell) || (state !== 'succeeded' && state !== 'cached')) return;
      listed.add(event.cell);
      const size = event.lists.l!;
      for (const { index, step, cells } of steps) {
        if (!step.each?.includes('l')) continue;
        for (const [batch, cell] of given.steps[index]!.cells!.entries()) {
          if (cell.each!.l !== event.cell) continue;
          const keyOf = (item: number): string => cell.key.replace('*', listKey(item));
          cells![batch] = { ...cells![batch]!, key: size === 0 ? EMPTY : keyOf(0) };
          for (let item = 1; item < size; item++) cells!.push(numbered({ ...cell, key: keyOf(item) }, item));
        }
      }
    },
    count(step, scheduler) {
      const empty = steps[step]!.cells?.filter(({ key }) => key === EMPTY).length ?? 0;
      return (scheduler.cellCount(step) ?? 0) - empty;
    },
    areComplete(step, scheduler) {
      return (given.steps[step]!.cells ?? []).every(({ each }, cell) => {
        const isKnown = each?.l === undefined || listed.has(each.l);
        return isKnown || ['skipped', 'canceled'].includes(scheduler.state(step, cell));
      });
    },
  };
}
