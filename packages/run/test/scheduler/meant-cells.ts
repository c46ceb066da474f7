import type { Plan, PlannedDependency } from '@sluice/core';
import type { Scheduler } from '../../src/scheduler/scheduler.ts';
import { EMPTY, isOfList, listKey, MOST } from './listed-cells.ts';

/** A cell that reads by a dependency. */
export interface Meaning {
  readonly plan: Plan;
  readonly scheduler: Scheduler;
  readonly step: number;
  readonly cell: number;
  readonly dependency: PlannedDependency;
}

/** The cells of a step that a cell means: those that agree with it on every axis that both have. */
export function meantCells({ plan, scheduler, step, cell, dependency }: Meaning, on: number): number[] {
  const other = plan.steps[on]!;
  const all = Array.from({ length: scheduler.cellCount(on) ?? 1 }, (_, index) => index).filter(
    (index) => other.cells?.[index]?.key !== EMPTY,
  );
  const { each } = plan.steps[step]!.cells?.[cell] ?? {};
  if (each === undefined || other.step.each === undefined) return all;
  const { all: released = [], where } = plan.steps[step]!.step.inputs[dependency.input ?? ''] ?? {};
  const isReleased = (axis: string): boolean =>
    (axis === 'l' && where !== undefined) ||
    released.includes(axis) ||
    released.some((one) => plan.axes![axis]!.implies[one] !== undefined);
  const axesOf = (names: readonly string[]) =>
    new Set(names.flatMap((axis) => [axis, ...Object.keys(plan.axes![axis]!.implies)]));
  const both = [...axesOf(plan.steps[step]!.step.each!)].filter(
    (axis) => axesOf(other.step.each!).has(axis) && !isReleased(axis),
  );
  const agreeing = all.filter((index) => {
    const its = other.cells![index]!.each!;
    return both.every((axis) => {
      const finer = both.find((one) => plan.axes![one]!.implies[axis] !== undefined);
      // Where an item has none of a coarser axis, agreeing on the item itself is enough.
      if (its[axis] === undefined && each[axis] === undefined) return finer !== undefined;
      return its[axis] === each[axis];
    });
  });
  // Until the list is known, the reader waits for it.
  if (where === undefined || agreeing.some((index) => isOfList(other.cells![index]!))) return agreeing;
  const keyOf = (index: number) => listKey(other.cells![index]!.each!.l! % MOST);
  const wanted = [where.l].flat().filter((key) => key !== '');
  const isKnown = wanted.every((key) => agreeing.some((index) => keyOf(index) === key));
  return isKnown ? agreeing.filter((index) => wanted.includes(keyOf(index))) : [];
}
