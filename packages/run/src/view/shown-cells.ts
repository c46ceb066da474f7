import type { Plan } from '@sluice/core';
import { type CellStatus, SHOWN_STATUSES } from '../schemas/statuses.ts';
import type { ShownStatus } from './shown-status.ts';

/** What is shown of each cell of a run, and how many cells have each status. */
export interface ShownCells {
  readonly states: readonly Uint8Array[];
  counts(step?: number): Partial<Record<CellStatus, number>>;
  /** A step has so many cells from now on; returns the number of added cells. */
  add(step: number, count: number): number;
  /** Whether this changes anything. */
  show(step: number, cell: number, shown: { readonly status: ShownStatus; readonly attempt: number }): boolean;
}

type Counts = Uint32Array;

/** All cells that are known in advance; each waits. */
export function createShownCells(plan: Plan): ShownCells {
  const states = plan.steps.map(() => new Uint8Array());
  const attempts = plan.steps.map(() => new Uint16Array());
  const ofSteps: Counts[] = plan.steps.map(() => new Uint32Array(SHOWN_STATUSES.length));
  const ofRun: Counts = new Uint32Array(SHOWN_STATUSES.length);

  function add(step: number, count: number): number {
    const before = states[step]!;
    const added = count - before.length;
    if (added <= 0) return 0;
    states[step] = new Uint8Array(count);
    states[step].set(before);
    const old = attempts[step]!;
    attempts[step] = new Uint16Array(count);
    attempts[step].set(old);
    ofSteps[step]![0]! += added;
    ofRun[0]! += added;
    return added;
  }

  for (const { index, cells } of plan.steps) add(index, cells?.length ?? 0);
  return {
    states,
    add,
    counts: (step) => describeCounts(step === undefined ? ofRun : ofSteps[step]!),
    show(step, cell, { status, attempt }) {
      const row = states[step]!;
      if (row[cell] === status && attempts[step]![cell] === attempt) return false;
      for (const counts of [ofSteps[step]!, ofRun]) {
        counts[row[cell]!]!--;
        counts[status]!++;
      }
      row[cell] = status;
      attempts[step]![cell] = attempt;
      return true;
    },
  };
}

function describeCounts(counts: Counts): Partial<Record<CellStatus, number>> {
  const described: Partial<Record<CellStatus, number>> = {};
  SHOWN_STATUSES.forEach(({ status }, index) => {
    if (counts[index]! > 0) described[status] = (described[status] ?? 0) + counts[index]!;
  });
  return described;
}
