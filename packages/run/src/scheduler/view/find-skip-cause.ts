import type { SkipCause } from '../model/skip-cause.ts';
import { CODE } from '../model/state-code.ts';
import { gateOf } from '../state/gates.ts';
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
  if (kind !== 'dependency' && kind !== 'failFast' && kind !== 'noItem') return { kind };
  const root = run.plan.steps[run.causeStep[gate]!]!.step.name;
  if (kind !== 'dependency') return { kind, step: root };
  const culprit = run.causeCell[gate]!;
  return { kind, step: root, ...(culprit >= 0 && { cell: culprit }), condition: conditionOf(run.causeEdge[gate]!) };
}

const CAUSE_NAMES = Object.keys(CAUSE_KIND) as (keyof typeof CAUSE_KIND)[];
