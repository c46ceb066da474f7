import { cellsRead } from '../state/cells-read.ts';
import { gateCount, gateOf, hasEnded } from '../state/gates.ts';
import { takeBrokenService } from '../state/move-cell.ts';
import { STEP } from '../state/plan-index.ts';
import type { RunState } from '../state/run-state.ts';
import { type Gate, noLongerNeeded } from './stop-flow.ts';

/** Ends a service whose cells can no longer all become ready: otherwise its ready cells would run forever. */
export function endBrokenServices(run: RunState): void {
  for (let step = takeBrokenService(run); step !== undefined; step = takeBrokenService(run)) {
    if (hasEnded(run, step)) continue;
    run.needers[gateOf(run, step, 0)] = 0;
    noLongerNeeded(run, { step, cell: 0 });
  }
}

/**
 * Ends a ready service without dependents. From now on it counts as no longer needed, so a failure to publish does not
 * restart it.
 */
export function endIfUnused(run: RunState, { step, cell }: Gate): void {
  const gate = gateOf(run, step, cell);
  if (run.needers[gate] !== -1) return;
  run.needers[gate] = 0;
  noLongerNeeded(run, { step, cell });
}

/** Releases the services that this ended step has used as a whole. */
export function releaseServices(run: RunState, step: number): void {
  for (const { on, condition } of run.plan.steps[step]!.dependencies) {
    const flags = run.index.flags[on]!;
    const counted = (flags & STEP.service) !== 0 && (condition === 'succeeded' || condition === 'running');
    const isOfCells = (flags & run.index.flags[step]! & STEP.each) !== 0;
    if (!counted || isOfCells || ((flags ^ run.index.flags[step]!) & STEP.final) !== 0) continue;
    for (let cell = 0; cell < gateCount(run, on); cell++) releaseCell(run, { step: on, cell });
  }
}

/** Adds users of the services that a cell uses, as many as cells have joined it. */
export function addUsers(run: RunState, { step, cell }: Gate, added: number): void {
  for (const edge of run.matches.into.get(step) ?? []) {
    if (!edge.isUse) continue;
    for (const one of cellsRead(run, edge, cell)) run.needers[gateOf(run, edge.source, one)]! += added;
  }
}

/** Releases the cells of services that this ended cell has used. */
export function releaseUsed(run: RunState, { step, cell }: Gate): void {
  for (const edge of run.matches.into.get(step) ?? []) {
    if (!edge.isUse) continue;
    for (const one of cellsRead(run, edge, cell)) releaseCell(run, { step: edge.source, cell: one });
  }
}

/** One user fewer. */
function releaseCell(run: RunState, { step, cell }: Gate): void {
  const gate = gateOf(run, step, cell);
  if (run.needers[gate]! <= 0) return;
  run.needers[gate]!--;
  if (run.needers[gate] === 0) noLongerNeeded(run, { step, cell });
}
