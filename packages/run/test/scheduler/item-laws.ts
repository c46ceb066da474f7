import type { Plan } from '@sluice/core';
import { TERMINAL_CELL_STATES } from '../../src/scheduler/model/cell-state.ts';
import type { Scheduler } from '../../src/scheduler/scheduler.ts';
import { meantCells } from './meant-cells.ts';

/** The laws of `parallelism` of an axis. */
export interface ItemLaws {
  submit(at: Place, scheduler: Scheduler): void;
  rest(scheduler: Scheduler): void;
  /** A list has become known, and with it cells. */
  forget(): void;
}

interface Place {
  readonly step: number;
  readonly cell: number;
}

/**
 * Decides independently of `item-limits.ts` whether an item may begin: there is a place, or an item that has had one
 * reads it, directly or through other cells.
 */
export function createItemLaws(plan: Plan, law: (holds: boolean, message: string) => void): ItemLaws {
  const limits = Object.entries(plan.pipeline.axes ?? {}).flatMap(([axis, { parallelism }]) =>
    parallelism === undefined ? [] : [{ axis, size: parallelism }],
  );
  const begun = new Set<string>();
  /** Items that have begun, or of which a cell was ready and did not wait for an item, before the commands of an event. */
  const admitted = new Set<string>();
  const reached = new Map<string, ReadonlySet<string>>();
  /** Items that one of `admitted` read when it was admitted: a list that was unknown then can turn out to be empty. */
  const neededOnce = new Set<string>();
  const cellsByItem = new Map<string, Place[]>();

  /** The cells of an item, as far as they are known. */
  function cellsOf(item: string): readonly Place[] {
    if (cellsByItem.size === 0) {
      for (const { index: step, cells = [] } of plan.steps) {
        for (const cell of cells.keys())
          for (const one of itemsOf({ step, cell }))
            cellsByItem.set(one, [...(cellsByItem.get(one) ?? []), { step, cell }]);
      }
    }
    return cellsByItem.get(item) ?? [];
  }

  function itemsOf({ step, cell }: Place): readonly string[] {
    const { final, cells } = plan.steps[step]!;
    const each = final ? {} : (cells?.[cell]?.each ?? {});
    return limits.flatMap(({ axis }) => (each[axis] === undefined ? [] : [`${axis}/${each[axis]}`]));
  }

  /** The items of all cells that those of an item read, directly or through others. */
  function reach(item: string, scheduler: Scheduler): ReadonlySet<string> {
    const known = reached.get(item);
    if (known !== undefined) return known;
    const seen = new Set<string>();
    const items = new Set<string>();
    const visit = (place: Place): void => {
      const key = `${place.step}/${place.cell}`;
      if (seen.has(key)) return;
      seen.add(key);
      for (const one of itemsOf(place)) items.add(one);
      for (const dependency of plan.steps[place.step]!.dependencies) {
        const { on } = dependency;
        // A `foreach` without an item has no cell, and waited for the same.
        const isOne = plan.steps[on]!.step.each === undefined;
        const meant = isOne ? [0] : meantCells({ plan, scheduler, ...place, dependency }, on);
        for (const cell of meant) visit({ step: on, cell });
      }
    };
    for (const place of cellsOf(item)) visit(place);
    reached.set(item, items);
    return items;
  }

  function admit(item: string, scheduler: Scheduler): void {
    if (admitted.has(item)) return;
    admitted.add(item);
    for (const one of reach(item, scheduler)) if (one !== item) neededOnce.add(one);
  }

  const isOver = (scheduler: Scheduler, { step, cell }: Place): boolean =>
    TERMINAL_CELL_STATES.has(scheduler.state(step, cell));

  return {
    submit(at, scheduler) {
      for (const item of itemsOf(at)) {
        admit(item, scheduler);
        if (begun.has(item)) continue;
        const [axis = ''] = item.split('/');
        const size = limits.find((limit) => limit.axis === axis)!.size;
        const isNeeded = (one: string) =>
          neededOnce.has(one) || [...admitted].some((other) => other !== one && reach(other, scheduler).has(one));
        // One that others need can have got its place beyond the limit, and after this item.
        const others = [...begun].filter(
          (other) => other.startsWith(`${axis}/`) && !cellsOf(other).every((place) => isOver(scheduler, place)),
        );
        const isAllowed = others.length < size || others.filter((other) => !isNeeded(other)).length < size;
        law(isAllowed || isNeeded(item), `${item} begins beside ${others.join(', ')}, and ${size} may`);
        begun.add(item);
      }
    },
    forget() {
      reached.clear();
      cellsByItem.clear();
    },
    rest(scheduler) {
      if (limits.length === 0) return;
      for (const { index: step, cells = [] } of plan.steps) {
        for (let cell = 0; cell < cells.length; cell++) {
          const items = itemsOf({ step, cell });
          if (items.every((item) => admitted.has(item))) continue;
          const state = scheduler.state(step, cell);
          const isAdmitted = state === 'ready' && scheduler.waitReason(step, cell)?.kind !== 'items';
          // The command of one that has begun may come after those of the items that it needs.
          if (isAdmitted || state === 'submitting') for (const item of items) admit(item, scheduler);
        }
      }
    },
  };
}
