import { createKeyHeap, type KeyHeap } from './key-heap.ts';

/**
 * The ready cells, and which of them may start.
 *
 * Cells that count against the same limits share a *lane*: a heap of their keys. A lane that could start is in
 * `runnable`; a lane that exceeds a limit is parked at that limit, so a full pool costs nothing per event.
 * Both are heaps of lanes, ordered by the best key in the lane.
 *
 * A parked lane cannot be overtaken at its limit by a lane with a worse key: a request for four slots is not starved by
 * a stream of requests for one.
 */
export interface ReadyQueue {
  push(lane: number, key: number): void;
  /** Removes and returns the best cell that fits all limits, and acquires its capacity. -1 if there is none. */
  pick(): number;
  /** Releases the capacity of one cell. */
  release(lane: number): void;
  /** Removes the cells for which `keep` returns false. Linear in the number of ready cells. */
  retain(keep: (key: number) => boolean): void;
  /** The limit that prevents the lane from starting now: an index into `limits`, -1 for none. */
  blockedBy(lane: number): number;
  readonly limits: readonly Limit[];
  readonly lanes: readonly Lane[];
  /** Cells that hold capacity now. */
  readonly held: number;
  /** Cells that may hold capacity at the same time. */
  readonly capacity: number;
}

interface Limit {
  readonly kind: 'pool' | 'stepParallelism' | 'limit';
  readonly name: string;
  readonly size: number;
  used: number;
  /** Lanes that wait for capacity here. */
  readonly parked: LaneHeap;
}

interface Lane {
  readonly cells: KeyHeap;
  /** Indexes into the limits, ascending, and the amount of each. */
  readonly limits: readonly number[];
  readonly amounts: readonly number[];
  /** Requests more than the size of a limit: never started, and does not block others. */
  readonly impossible: boolean;
  /** The heap of lanes that contains it, and its position there. */
  heap: LaneHeap | undefined;
  position: number;
  /**
   * The limit whose freed capacity moved it back to `runnable`; that limit is checked again after this lane. -1 for
   * none.
   */
  cameFrom: number;
}

/**
 * A heap of lanes by their best cell. Lanes store their position in it, so that they can move when that cell changes.
 */
interface LaneHeap {
  /** The limit at which these lanes are parked; -1 for the runnable ones. */
  readonly limit: number;
  readonly lanes: Lane[];
}

/** A lane as the plan defines it: indexes into the limits, ascending, and the amount of each that a cell needs. */
export interface LaneSpec {
  readonly limits: readonly number[];
  readonly amounts: readonly number[];
}

/** A limit as the plan or the shell defines it. */
export interface LimitSpec {
  readonly kind: Limit['kind'];
  readonly name: string;
  readonly size: number;
}

/** Creates a queue for at most `capacity` concurrent cells. Lanes refer to limits by index. */
export function createReadyQueue(
  capacity: number,
  specs: { limits: readonly LimitSpec[]; lanes: readonly LaneSpec[] },
): ReadyQueue {
  const state = createQueueState(specs);
  return {
    limits: state.limits,
    lanes: state.lanes,
    capacity,
    get held() {
      return state.held;
    },
    push(id, key) {
      const lane = state.lanes[id]!;
      const better = key < lane.cells.top;
      lane.cells.push(key);
      if (lane.impossible) return;
      if (lane.heap === undefined) insertLane(state.runnable, lane);
      else if (better) {
        raiseLane(lane.heap, lane);
        if (lane.heap !== state.runnable && lane.position === 0) wakeLane(state, lane.heap.limit);
      }
    },
    pick() {
      while (state.held < capacity) {
        const lane = state.runnable.lanes[0];
        if (lane === undefined) return -1;
        const blocker = findBlocker(state, lane);
        if (blocker < 0) return takeCell(state, lane);
        removeLane(lane);
        insertLane(state.limits[blocker]!.parked, lane);
        recheckLimit(state, lane);
      }
      return -1;
    },
    release(id) {
      const lane = state.lanes[id]!;
      state.held--;
      for (let i = 0; i < lane.limits.length; i++) state.limits[lane.limits[i]!]!.used -= lane.amounts[i]!;
      for (const limit of lane.limits) wakeLane(state, limit);
    },
    retain(keep) {
      for (const lane of state.lanes) {
        if (lane.cells.size === 0) continue;
        lane.cells.retain(keep);
        if (lane.heap !== undefined) removeLane(lane);
        lane.cameFrom = -1;
        if (lane.cells.size > 0 && !lane.impossible) insertLane(state.runnable, lane);
      }
    },
    blockedBy(id) {
      const lane = state.lanes[id]!;
      const tooMuch = lane.limits.find((limit, i) => lane.amounts[i]! > state.limits[limit]!.size);
      return tooMuch ?? findBlocker(state, lane);
    },
  };
}

interface QueueState {
  readonly limits: readonly Limit[];
  readonly lanes: readonly Lane[];
  readonly runnable: LaneHeap;
  /** Cells that hold capacity now. */
  held: number;
}

function createQueueState(specs: { limits: readonly LimitSpec[]; lanes: readonly LaneSpec[] }): QueueState {
  const limits: Limit[] = specs.limits.map((limit, id) => ({ ...limit, used: 0, parked: { limit: id, lanes: [] } }));
  const lanes: Lane[] = specs.lanes.map((lane) => ({
    limits: lane.limits,
    amounts: lane.amounts,
    cells: createKeyHeap(),
    impossible: lane.limits.some((limit, i) => lane.amounts[i]! > limits[limit]!.size),
    heap: undefined,
    position: 0,
    cameFrom: -1,
  }));
  return { limits, lanes, runnable: { limit: -1, lanes: [] }, held: 0 };
}

/** The first limit that lacks capacity for the lane, or at which a better lane waits; -1 for none. */
function findBlocker({ limits }: QueueState, lane: Lane): number {
  for (let i = 0; i < lane.limits.length; i++) {
    const limit = limits[lane.limits[i]!]!;
    if (limit.used + lane.amounts[i]! > limit.size) return lane.limits[i]!;
    const first = limit.parked.lanes[0];
    if (first !== undefined && first !== lane && first.cells.top < lane.cells.top) return lane.limits[i]!;
  }
  return -1;
}

/** Moves the best lane parked at the limit back to `runnable`, if it fits now. One at a time: see `cameFrom`. */
function wakeLane(state: QueueState, id: number): void {
  const limit = state.limits[id]!;
  const lane = limit.parked.lanes[0];
  if (lane === undefined || limit.used + lane.amounts[lane.limits.indexOf(id)]! > limit.size) return;
  removeLane(lane);
  lane.cameFrom = id;
  insertLane(state.runnable, lane);
}

/** The lane was handled: the limit that it came from may have capacity for the next one parked there. */
function recheckLimit(state: QueueState, lane: Lane): void {
  const from = lane.cameFrom;
  if (from < 0) return;
  lane.cameFrom = -1;
  wakeLane(state, from);
}

function takeCell(state: QueueState, lane: Lane): number {
  const key = lane.cells.pop();
  state.held++;
  for (let i = 0; i < lane.limits.length; i++) state.limits[lane.limits[i]!]!.used += lane.amounts[i]!;
  if (lane.cells.size === 0) removeLane(lane);
  else sinkLane(state.runnable, lane);
  recheckLimit(state, lane);
  return key;
}

function place(heap: LaneHeap, lane: Lane, at: number): void {
  heap.lanes[at] = lane;
  lane.position = at;
}

function raiseLane(heap: LaneHeap, lane: Lane): void {
  const { lanes } = heap;
  const key = lane.cells.top;
  let at = lane.position;
  while (at > 0) {
    const parent = lanes[(at - 1) >> 1]!;
    if (parent.cells.top <= key) break;
    place(heap, parent, at);
    at = (at - 1) >> 1;
  }
  place(heap, lane, at);
}

function sinkLane(heap: LaneHeap, lane: Lane): void {
  const { lanes } = heap;
  const key = lane.cells.top;
  let at = lane.position;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= lanes.length) break;
    if (child + 1 < lanes.length && lanes[child + 1]!.cells.top < lanes[child]!.cells.top) child++;
    const other = lanes[child]!;
    if (other.cells.top >= key) break;
    place(heap, other, at);
    at = child;
  }
  place(heap, lane, at);
}

function insertLane(heap: LaneHeap, lane: Lane): void {
  lane.heap = heap;
  lane.position = heap.lanes.length;
  heap.lanes.push(lane);
  raiseLane(heap, lane);
}

function removeLane(lane: Lane): void {
  const heap = lane.heap!;
  const last = heap.lanes.pop()!;
  lane.heap = undefined;
  if (last === lane) return;
  place(heap, last, lane.position);
  raiseLane(heap, last);
  sinkLane(heap, last);
}
