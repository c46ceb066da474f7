import { type BoundItem, listedSteps, own } from '@sluice/core';
import { CAUSE } from '../model/legal-moves.ts';
import { CODE } from '../model/state-code.ts';
import { gateOf } from '../state/gates.ts';
import { moveCell, noteListed } from '../state/move-cell.ts';
import { addCells, CAUSE_KIND, type RunState } from '../state/run-state.ts';
import { setCause } from '../state/set-cause.ts';
import { addUsers } from './service-flow.ts';
import { resolveGate } from './step-flow.ts';

interface Listing {
  readonly step: number;
  readonly cell: number;
  readonly lists?: Readonly<Record<string, number>>;
  readonly bound?: readonly (readonly BoundItem[])[];
}

/**
 * A cell has succeeded, and so fixes the items that it lists: each planned cell that stood for its list becomes the cell of the
 * first item, and is joined by those of the others. If there is no item, it is skipped, and no directory has it. A later
 * success of the same cell changes nothing.
 */
export function listItems(run: RunState, { step, cell, lists = {}, bound = [] }: Listing): void {
  let isFirst = false;
  for (const listed of listedSteps(run.plan).get(step) ?? []) {
    const size = own(lists, listed.axis);
    if (size === undefined)
      throw new Error(`cannot end cell ${cell} of step ${step}: it has not listed ${listed.axis}`);
    for (const of of listed.steps) {
      for (const batch of listed.batchesOf(of, cell)) {
        if (run.batches[of]!.sizeOf(batch) !== undefined) continue;
        isFirst = true;
        expandBatch(run, { step: of, batch, size, listing: step });
      }
    }
  }
  if (!isFirst) return;
  run.matches.bind({ step, cell }, bound, {
    named: (edge, reader) => run.items?.bind(edge, reader),
    resolved: (reader, of) => resolveGate(run, reader, of),
  });
}

function expandBatch(
  run: RunState,
  { step, batch, size, listing }: { step: number; batch: number; size: number; listing: number },
): void {
  const { from, to } = run.batches[step]!.expand(batch, size);
  run.matches.expand(step, batch, size);
  addCells(run, step, { like: batch, added: to - from });
  addUsers(run, { step, cell: batch }, to - from);
  noteListed(run, step, size);
  if (size === 0) {
    setCause(run, gateOf(run, step, batch), { kind: CAUSE_KIND.noItem, root: listing });
    moveCell(run, step, { cell: batch, to: CODE.skipped, cause: CAUSE.skipped });
    return;
  }
  // Listeners learn of a cell by its moves.
  run.onMove?.(step, batch);
  for (let cell = from; cell < to; cell++) run.onMove?.(step, cell);
}
