import type { PostponeReason } from './event.ts';
import { STEP } from './plan-index.ts';
import { CAUSE_KIND, PHASE, type RunState } from './run-state.ts';
import type { SkipCause } from './scheduler.ts';
import { heldUntil } from './start-pace.ts';
import { CODE } from './state-code.ts';

/** Why a cell does not start: the answer to "why is this waiting?" (design §2, wait ledger). */
export type WaitReason =
  /** These steps are not over, or a service among them is not ready. Sorted by the file's order. */
  | { readonly kind: 'dependency'; readonly steps: readonly string[] }
  /** A step of `finally` waits until every other step is over. */
  | { readonly kind: 'finally'; readonly open: number }
  /** `when` or `foreach` is being evaluated. */
  | { readonly kind: 'decision' }
  /** A cached result is being looked for. */
  | { readonly kind: 'lookUp' }
  | { readonly kind: 'approval' }
  /** The run's own bound on containers at once. */
  | { readonly kind: 'parallelism'; readonly used: number; readonly size: number }
  | { readonly kind: 'maxParallel'; readonly used: number; readonly size: number }
  | {
      readonly kind: 'pool';
      readonly pool: string;
      readonly used: number;
      readonly size: number;
      readonly needed: number;
    }
  /** A limit that the shell named, for example per cluster or instance type. */
  | {
      readonly kind: 'limit';
      readonly limit: string;
      readonly used: number;
      readonly size: number;
      readonly needed: number;
    }
  /** A retry waits for its time. */
  | { readonly kind: 'backoff'; readonly until: number; readonly attempt: number }
  /** The submission was put off by the service or by another run. */
  | { readonly kind: 'postponed'; readonly reason: PostponeReason; readonly until: number; readonly detail?: string }
  /** It is the next, and a step that was placed before it has not been started yet. */
  | { readonly kind: 'turn' };

/** See `Scheduler.waitReason`. */
export function waitReason(run: RunState, step: number, cell: number): WaitReason | undefined {
  const id = run.cellBase[step]! + cell;
  switch (run.cells.state[id]) {
    case CODE.waiting:
      return run.phase[step] === PHASE.deciding ? { kind: 'decision' } : openDependencies(run, step);
    case CODE.checking:
      return { kind: 'lookUp' };
    case CODE.awaitingApproval:
      return { kind: 'approval' };
    case CODE.backingOff:
      return timeReason(run, step, cell);
    case CODE.ready:
      return limitReason(run, step);
    default:
      return undefined;
  }
}

function openDependencies(run: RunState, step: number): WaitReason {
  const final = (run.index.flags[step]! & STEP.final) !== 0;
  if (final && !run.finalsReleased) return { kind: 'finally', open: run.openMain };
  const open = run.plan.steps[step]!.dependencies.filter(({ on, condition }) => {
    const early = condition === 'running' || (condition === 'succeeded' && (run.index.flags[on]! & STEP.service) !== 0);
    return run.phase[on] !== PHASE.over && !(early && run.notRun[on] === -1);
  });
  return { kind: 'dependency', steps: open.map(({ on }) => run.plan.steps[on]!.step.name) };
}

function timeReason(run: RunState, step: number, cell: number): WaitReason {
  const id = run.cellBase[step]! + cell;
  const { until, reason, detail } = run.backOffs.get(id)!;
  return reason === undefined
    ? { kind: 'backoff', until, attempt: run.cells.attempt[id]! }
    : { kind: 'postponed', reason, until, ...(detail !== undefined && { detail }) };
}

function limitReason(run: RunState, step: number): WaitReason {
  const { queue } = run;
  const lane = queue.lanes[run.index.lane[step]!]!;
  const blocker = queue.blockedBy(run.index.lane[step]!);
  if (blocker >= 0) {
    const { kind, name, used, size } = queue.limits[blocker]!;
    const needed = lane.amounts[lane.limits.indexOf(blocker)]!;
    if (kind === 'pool') return { kind, pool: name, used, size, needed };
    return kind === 'limit' ? { kind, limit: name, used, size, needed } : { kind, used, size };
  }
  const until = heldUntil(run);
  if (until !== undefined) return { kind: 'postponed', reason: run.pace.reason, until };
  if (queue.held >= queue.capacity) return { kind: 'parallelism', used: queue.held, size: queue.capacity };
  return { kind: 'turn' };
}

/** See `Scheduler.skipCause`. */
export function skipCause(run: RunState, step: number, cell: number): SkipCause | undefined {
  const state = run.cells.state[run.cellBase[step]! + cell]!;
  const kind = CAUSE_NAMES[run.causeKind[step]!]!;
  if (kind === 'stuck') {
    const wait = run.stuckReasons.get(step);
    // A cell that had been tried before has a failure of its own to tell.
    return state === CODE.failed && run.cells.lastFailure[run.cellBase[step]! + cell] === 0 && wait
      ? { kind, wait }
      : undefined;
  }
  if (state !== CODE.skipped && state !== CODE.canceled && state !== CODE.timedOut) return undefined;
  if (kind === 'none') return undefined;
  if (kind !== 'dependency' && kind !== 'failFast') return { kind };
  return { kind, step: run.plan.steps[run.causeStep[step]!]!.step.name };
}

const CAUSE_NAMES = Object.keys(CAUSE_KIND) as (keyof typeof CAUSE_KIND)[];
