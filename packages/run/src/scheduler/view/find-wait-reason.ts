import { CODE } from '../model/state-code.ts';
import type { WaitReason } from '../model/wait-reason.ts';
import { gateOf, hasEnded } from '../state/gates.ts';
import { laneOfCell, STEP } from '../state/plan-index.ts';
import { PHASE, type RunState } from '../state/run-state.ts';
import { heldUntil } from '../state/start-pace.ts';

/** See `Scheduler.waitReason`. */
export function findWaitReason(run: RunState, step: number, cell: number): WaitReason | undefined {
  const id = run.cellBase[step]! + cell;
  switch (run.cells.state[id]) {
    case CODE.waiting:
      return run.phase[gateOf(run, step, cell)] === PHASE.deciding
        ? { kind: 'decision' }
        : openDependencies(run, step, cell);
    case CODE.checking:
      return { kind: 'lookUp' };
    case CODE.awaitingApproval:
      return { kind: 'approval' };
    case CODE.backingOff:
      return timeReason(run, step, cell);
    case CODE.ready:
      return itemReason(run, step, cell) ?? limitReason(run, step, cell);
    default:
      return undefined;
  }
}

function openDependencies(run: RunState, step: number, cell: number): WaitReason {
  const final = (run.index.flags[step]! & STEP.final) !== 0;
  if (final && !run.finalsReleased) return { kind: 'finally', open: run.openMain };
  const edges = run.matches.into.get(step) ?? [];
  const open = run.plan.steps[step]!.dependencies.filter((dependency) => {
    const { on, condition } = dependency;
    const edge = edges.find((one) => one.dependency === dependency);
    if (edge !== undefined) return run.matches.ends(edge, cell).open > 0;
    const service = (run.index.flags[on]! & STEP.service) !== 0;
    const early = condition === 'running' || (service && (condition === 'succeeded' || condition === 'skipped'));
    return !hasEnded(run, on) && !(early && run.notRun[on] === -1);
  });
  return { kind: 'dependency', steps: [...new Set(open.map(({ on }) => run.plan.steps[on]!.step.name))] };
}

function timeReason(run: RunState, step: number, cell: number): WaitReason {
  const id = run.cellBase[step]! + cell;
  const { until, reason, detail } = run.backOffs.get(id)!;
  return reason === undefined
    ? { kind: 'backoff', until, attempt: run.cells.attempt[id]! }
    : { kind: 'postponed', reason, until, ...(detail !== undefined && { detail }) };
}

function itemReason(run: RunState, step: number, cell: number): WaitReason | undefined {
  const axis = run.items?.blockedBy(step, cell);
  return axis && { kind: 'items', axis: axis.name, used: axis.used, size: axis.size };
}

function limitReason(run: RunState, step: number, cell: number): WaitReason {
  const { queue } = run;
  const id = laneOfCell(run.index, step, cell);
  const lane = queue.lanes[id]!;
  const blocker = queue.blockedBy(id);
  if (blocker >= 0) {
    const { kind, name, used, size } = queue.limits[blocker]!;
    const needed = lane.amounts[lane.limits.indexOf(blocker)]!;
    if (kind === 'pool') return { kind, pool: name, used, size, needed };
    return kind === 'limit' ? { kind, limit: name, used, size, needed } : { kind, used, size };
  }
  const until = heldUntil(run);
  if (until !== undefined) return { kind: 'postponed', reason: run.pace.reason, until };
  if (queue.held >= queue.capacity) return { kind: 'parallelism', used: queue.held, size: queue.capacity };
  return { kind: 'queued' };
}
