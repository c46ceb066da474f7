import {
  hasLateValues,
  NEED_CONDITIONS,
  type NeedCondition,
  own,
  type Plan,
  type PlannedStep,
  valuesOfCell,
} from '@sluice/core';
import type { SchedulerOptions } from '../model/scheduler-options.ts';
import type { LaneSpec, LimitSpec } from './ready-queue.ts';
import { remainingPaths, type StartOrder, startOrder } from './start-order.ts';

/** The condition in an edge's byte: a place in `NEED_CONDITIONS`, with the flags of `EDGE`. */
export function conditionOf(kind: number): NeedCondition {
  return NEED_CONDITIONS[kind & EDGE.condition]!;
}

/** The bits of an edge's byte. */
export const EDGE = {
  /** Mask of the index into `NEED_CONDITIONS`. */
  condition: 7,
  /** Resolved as soon as the dependency runs (or, for a service, is ready), without waiting for its end. */
  early: 8,
  /** Only orders: from a step of `finally` to one that must end first in any case, whatever its result. */
  orderOnly: 16,
  /** Satisfied by any end: of an input that is optional, or has several sources, which the reader judges together. */
  free: 32,
  /** Between cells: resolved by `MatchTable`, not by the end of the step. */
  matched: 64,
} as const;

/** The bits of `PlanIndex.flags`. */
export const STEP = {
  final: 1,
  service: 2,
  /** Its `when`, its `foreach` or values of its cells are evaluated by the shell. */
  dynamic: 4,
  /** Requires the failure or any end of another step: starts even if the run stops after a failure. */
  handlesFailure: 8,
  cached: 32,
  approval: 64,
  /** Has outputs or results, or inputs that must not have changed, so that a success is published. */
  publishes: 128,
  /** Has an edge to a service, which is released when this step ends. */
  usesService: 256,
  /** Other steps wait until it runs or is ready. */
  watched: 512,
  /** Has a timeout, queue timeout or deadline. */
  timed: 1024,
  /** Has `each`: every cell is a gate of its own. */
  each: 2048,
  /** Cells of other steps wait for its cells. */
  matched: 4096,
  /** Its gates judge edges when they are released: those between cells, and inputs with several sources. */
  judges: 8192,
} as const;

/** The plan as arrays, written once. Edges are stored at the dependency (compressed rows). */
export interface PlanIndex extends StartOrder {
  readonly stepCount: number;
  readonly flags: Uint16Array;
  /** The dependents of step `s` are at `edgeStart[s]` up to `edgeStart[s + 1]`. */
  readonly edgeStart: Int32Array;
  readonly edgeTo: Int32Array;
  readonly edgeKind: Uint8Array;
  /** Number of dependencies of each step, and of those that whole steps resolve. */
  readonly dependencyCount: Int32Array;
  readonly stepEdgeCount: Int32Array;
  /** The lane of each step in the ready queue, and of the cells of a step with `pools` or limits of their own. */
  readonly lane: Int32Array;
  readonly cellLanes: ReadonlyMap<number, Int32Array>;
  readonly lanes: readonly LaneSpec[];
  readonly limits: readonly LimitSpec[];
  /** Cells known from the plan; steps with `foreach` count none. */
  readonly staticCells: number;
  /** Steps outside `finally`. */
  readonly mainSteps: number;
}

/** Builds the index of a plan. The plan must not change afterwards. */
export function createPlanIndex(plan: Plan, options: SchedulerOptions): PlanIndex {
  const { steps } = plan;
  const flags = new Uint16Array(steps.length);
  let staticCells = 0;
  let mainSteps = 0;
  for (const planned of steps) {
    flags[planned.index] = stepFlags(plan, planned, options);
    staticCells += planned.cells?.length ?? 0;
    if (!planned.final) mainSteps++;
  }
  const edges = createEdges(plan, flags);
  const order = startOrder(plan, remainingPaths(plan, edges, options));
  return {
    stepCount: steps.length,
    flags,
    ...edges,
    ...order,
    ...createLanes(plan, options),
    staticCells,
    mainSteps,
  };
}

function stepFlags(plan: Plan, planned: PlannedStep, { looksUpAll, checksInputs }: SchedulerOptions): number {
  const { step, final, cells, dependencies } = planned;
  let flags = 0;
  if (step.each !== undefined) flags |= STEP.each;
  if (final) flags |= STEP.final;
  if (step.service !== undefined) flags |= STEP.service;
  const isDecided = step.when !== undefined || cells === undefined || hasLateValues(plan, planned.index);
  if (isDecided) flags |= STEP.dynamic;
  const isRepeatable = !final && step.service === undefined && step.approval === undefined;
  if (step.cache !== undefined || (looksUpAll && isRepeatable)) flags |= STEP.cached;
  if (step.approval !== undefined) flags |= STEP.approval;
  const isChecked = checksInputs === true && hasKeys(step.inputs);
  if (isChecked || hasKeys(step.outputs) || hasKeys(step.results)) flags |= STEP.publishes;
  const { timeout, queueTimeout, deadline } = step.perCell ?? {};
  const limits = [step.timeoutMs, step.queueTimeoutMs, step.deadlineMs, timeout, queueTimeout, deadline];
  if (limits.some((limit) => limit !== undefined)) flags |= STEP.timed;
  for (const { condition } of dependencies) {
    if (condition === 'failed' || condition === 'completed') flags |= STEP.handlesFailure;
  }
  return flags;
}

function hasKeys(record: object): boolean {
  for (const _ in record) return true;
  return false;
}

function createEdges(plan: Plan, flags: Uint16Array) {
  const { steps } = plan;
  const edgeStart = new Int32Array(steps.length + 1);
  const dependencyCount = new Int32Array(steps.length);
  const stepEdgeCount = new Int32Array(steps.length);
  for (const { index, dependencies } of steps) {
    dependencyCount[index] = dependencies.length;
    for (let i = 0; i < dependencies.length; i++) edgeStart[dependencies[i]!.on + 1]!++;
  }
  for (let i = 0; i < steps.length; i++) edgeStart[i + 1]! += edgeStart[i]!;
  const edgeTo = new Int32Array(edgeStart[steps.length]!);
  const edgeKind = new Uint8Array(edgeTo.length);
  const next = edgeStart.slice(0, steps.length);
  for (const { index, step, final, dependencies } of steps) {
    for (let i = 0; i < dependencies.length; i++) {
      const { on, condition, data, input } = dependencies[i]!;
      let kind = NEED_CONDITIONS.indexOf(condition);
      if ((flags[on]! & flags[index]! & STEP.each) !== 0) {
        kind |= EDGE.matched;
        flags[on]! |= STEP.matched;
        flags[index]! |= STEP.judges;
      } else stepEdgeCount[index]!++;
      const rules = input === undefined ? undefined : own(step.inputs, input);
      if (rules?.or !== undefined) flags[index]! |= STEP.judges;
      if (rules?.or !== undefined || rules?.optional === true) kind |= EDGE.free;
      const service = (flags[on]! & STEP.service) !== 0;
      const main = (flags[on]! & STEP.final) === 0;
      if (final && main && condition === 'succeeded' && !data) kind |= EDGE.orderOnly;
      const uses = condition === 'running' || (service && condition === 'succeeded');
      if (uses || (service && condition === 'skipped')) {
        kind |= EDGE.early;
        flags[on]! |= STEP.watched;
      }
      if (uses && service && final !== main) flags[index]! |= STEP.usesService;
      const at = next[on]!++;
      edgeTo[at] = index;
      edgeKind[at] = kind;
    }
  }
  return { edgeStart, edgeTo, edgeKind, dependencyCount, stepEdgeCount };
}

/** Steps with the same limits share a lane; `parallelism` gives a step a lane of its own. Lane 0 has no limit. */
function createLanes(plan: Plan, { limits: limitsOf }: SchedulerOptions) {
  const limits: LimitSpec[] = [];
  const limitIds = new Map<string, number>();
  const lanes: LaneSpec[] = [{ limits: [], amounts: [] }];
  const laneIds = new Map<string, number>();
  const lane = new Int32Array(plan.steps.length);
  const limitId = (spec: LimitSpec): number => {
    const name = `${spec.kind}:${spec.name}`;
    const known = limitIds.get(name);
    if (known !== undefined) return known;
    limitIds.set(name, limits.length);
    return limits.push(spec) - 1;
  };
  const laneOf = ({ index, step }: PlannedStep, cell: number): number => {
    const { pools } = valuesOfCell(plan, index, cell);
    const asked: { id: number; amount: number }[] = [];
    for (const [pool, amount] of Object.entries(pools)) {
      if (amount > 0)
        asked.push({ id: limitId({ kind: 'pool', name: pool, size: own(plan.pipeline.pools, pool) ?? 0 }), amount });
    }
    for (const { key, size, amount = 1 } of limitsOf?.(index, cell) ?? []) {
      asked.push({ id: limitId({ kind: 'limit', name: key, size }), amount });
    }
    if (step.parallelism !== undefined) {
      asked.push({ id: limitId({ kind: 'stepParallelism', name: step.name, size: step.parallelism }), amount: 1 });
    }
    if (asked.length === 0) return 0;
    asked.sort((a, b) => a.id - b.id);
    const name = asked.map(({ id, amount }) => `${id}x${amount}`).join();
    const known = laneIds.get(name);
    if (known !== undefined) return known;
    const id = lanes.push({ limits: asked.map((one) => one.id), amounts: asked.map((one) => one.amount) }) - 1;
    laneIds.set(name, id);
    return id;
  };
  const cellLanes = new Map<number, Int32Array>();
  for (const planned of plan.steps) {
    const { index, step, cells = [] } = planned;
    lane[index] = laneOf(planned, 0);
    const ofFirst = limitsOf?.(index, 0);
    const hasOwnLimits = limitsOf !== undefined && cells.some((_, cell) => limitsOf(index, cell) !== ofFirst);
    if (step.perCell?.pools === undefined && !hasOwnLimits) continue;
    cellLanes.set(
      index,
      Int32Array.from(cells, (_, cell) => laneOf(planned, cell)),
    );
  }
  return { lane, cellLanes, lanes, limits };
}

/** The lane of a cell in the ready queue. */
export function laneOfCell({ lane, cellLanes }: PlanIndex, step: number, cell: number): number {
  return cellLanes.get(step)?.[cell] ?? lane[step]!;
}
