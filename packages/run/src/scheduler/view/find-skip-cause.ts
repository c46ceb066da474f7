import { toleratedFailures } from '@sluice/core';
import type { SkipCause } from '../model/skip-cause.ts';
import { CODE, isFailed } from '../model/state-code.ts';
import { allCells, cellsRead } from '../state/cells-read.ts';
import { countedCells, gateOf } from '../state/gates.ts';
import { conditionOf } from '../state/plan-index.ts';
import { CAUSE_KIND, type RunState } from '../state/run-state.ts';

/** See `Scheduler.skipCause`. */
export function findSkipCause(run: RunState, step: number, cell: number): SkipCause | undefined {
  const state = run.cells.state[run.cellBase[step]! + cell]!;
  const gate = gateOf(run, step, cell);
  const kind = CAUSE_NAMES[run.causeKind[gate]!]!;
  if (kind === 'stuck') {
    const wait = run.stuckReasons.get(step);
    // A cell that was tried before reports its own failure.
    return state === CODE.failed && run.cells.lastFailure[run.cellBase[step]! + cell] === 0 && wait
      ? { kind, wait }
      : undefined;
  }
  if (state !== CODE.skipped && state !== CODE.canceled && state !== CODE.timedOut) return undefined;
  if (kind === 'none') return undefined;
  if (kind === 'tolerance') return { kind, ...countFailures(run, step) };
  if (kind !== 'dependency' && kind !== 'failFast' && kind !== 'noItem') return { kind };
  const root = run.plan.steps[run.causeStep[gate]!]!.step.name;
  if (kind !== 'dependency') return { kind, step: root };
  const culprit = run.causeCell[gate]!;
  const failedCells = findFailedCells(run, { step, cell, on: run.causeStep[gate]! });
  return {
    ...{ kind, step: root, ...(culprit >= 0 && { cell: culprit }), condition: conditionOf(run.causeEdge[gate]!) },
    ...(culprit >= 0 && failedCells.length > 1 && { failedCells }),
  };
}

function countFailures(run: RunState, step: number): { failed: number; tolerated: number } {
  const { continueOnError } = run.plan.steps[step]!.step;
  return { failed: run.failures[step]!, tolerated: toleratedFailures(continueOnError, countedCells(run, step)) };
}

/** The failed cells of a step that a cell would have read itself. */
function findFailedCells(
  run: RunState,
  { step, cell, on }: { readonly step: number; readonly cell: number; readonly on: number },
): readonly number[] {
  const dependency = run.plan.steps[step]!.dependencies.find((one) => one.on === on);
  if (dependency === undefined) return [];
  const edge = run.matches.into.get(step)?.find((one) => one.source === on);
  const read = edge === undefined ? allCells(run, on) : cellsRead(run, edge, cell);
  return read.filter((at) => isFailed(run.cells.state[run.cellBase[on]! + at]!));
}

const CAUSE_NAMES = Object.keys(CAUSE_KIND) as (keyof typeof CAUSE_KIND)[];
