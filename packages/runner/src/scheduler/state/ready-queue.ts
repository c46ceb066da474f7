import { createKeyHeap, type KeyHeap } from './key-heap.ts';

/**
 * The ready cells, and who of them may start.
 *
 * Cells that count against the same limits share a *lane*: a heap of their keys. A lane that could start stands in
 * `runnable`; a lane for which a limit has no room is parked at that limit, so a full pool costs nothing per event.
 * Both are heaps of lanes, ordered by the best key in the lane.
 *
 * A lane does not overtake a better one at the limit where that one is parked: a request for four tokens is not
 * starved by a stream of requests for one.
 */
export interface ReadyQueue {
  push(lane: number, key: number): void;
  /** Takes the best cell that every limit has room for, and the room with it. -1 where there is none. */
  pick(): number;
  /** Gives the room of one cell back. */
  release(lane: number): void;
  /** Drops the cells that `keep` refuses. Linear in all that is ready. */
  retain(keep: (key: number) => boolean): void;
  /** The limit that keeps the lane from starting now: an index into `limits`, -1 for none. */
  blockedBy(lane: number): number;
  readonly limits: readonly Limit[];
  readonly lanes: readonly Lane[];
  /** Cells that hold room now. */
  readonly held: number;
  /** Cells that may hold room at once. */
  readonly capacity: number;
}

interface Limit {
  readonly kind: 'pool' | 'maxParallel' | 'limit';
  readonly name: string;
  readonly size: number;
  used: number;
  /** Lanes that wait for room here. */
  readonly parked: LaneHeap;
}

interface Lane {
  readonly cells: KeyHeap;
  /** Indexes into the limits, ascending, and the amount of each. */
  readonly limits: readonly number[];
  readonly amounts: readonly number[];
  /** Asks for more than a limit has in all: never started, and in nobody's way. */
  readonly impossible: boolean;
  /** The heap of lanes it stands in, and where. */
  heap: LaneHeap | undefined;
  position: number;
  /** The limit whose room brought it back to `runnable`, to be looked at again after it; -1 for none. */
  cameFrom: number;
}

/** A heap of lanes by their best cell. Lanes know their place in it, so that they can move when that cell changes. */
interface LaneHeap {
  /** The limit at which these lanes are parked; -1 for the runnable ones. */
  readonly limit: number;
  readonly lanes: Lane[];
}

export interface LaneSpec {
  readonly limits: readonly number[];
  readonly amounts: readonly number[];
}

export interface LimitSpec {
  readonly kind: Limit['kind'];
  readonly name: string;
  readonly size: number;
}

export function createReadyQueue(
  capacity: number,
  specs: { limits: readonly LimitSpec[]; lanes: readonly LaneSpec[] },
): ReadyQueue {
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
  const runnable: LaneHeap = { limit: -1, lanes: [] };
  let held = 0;

  /** The first limit without room for the lane, or at which a better lane waits; -1 for none. */
  function blockedBy(lane: Lane): number {
    for (let i = 0; i < lane.limits.length; i++) {
      const limit = limits[lane.limits[i]!]!;
      if (limit.used + lane.amounts[i]! > limit.size) return lane.limits[i]!;
      const first = limit.parked.lanes[0];
      if (first !== undefined && first !== lane && first.cells.top < lane.cells.top) return lane.limits[i]!;
    }
    return -1;
  }

  /** Brings the best lane back that waits at the limit, if the limit has room for it now. One at a time: see `cameFrom`. */
  function wake(id: number): void {
    const limit = limits[id]!;
    const lane = limit.parked.lanes[0];
    if (lane === undefined || limit.used + lane.amounts[lane.limits.indexOf(id)]! > limit.size) return;
    removeLane(lane);
    lane.cameFrom = id;
    insertLane(runnable, lane);
  }

  function settled(lane: Lane): void {
    const from = lane.cameFrom;
    if (from < 0) return;
    lane.cameFrom = -1;
    wake(from);
  }

  function take(lane: Lane): number {
    const key = lane.cells.pop();
    held++;
    for (let i = 0; i < lane.limits.length; i++) limits[lane.limits[i]!]!.used += lane.amounts[i]!;
    if (lane.cells.size === 0) removeLane(lane);
    else sinkLane(runnable, lane);
    settled(lane);
    return key;
  }

  return {
    limits,
    lanes,
    capacity,
    get held() {
      return held;
    },
    push(id, key) {
      const lane = lanes[id]!;
      const better = key < lane.cells.top;
      lane.cells.push(key);
      if (lane.impossible) return;
      if (lane.heap === undefined) insertLane(runnable, lane);
      else if (better) {
        raiseLane(lane.heap, lane);
        if (lane.heap !== runnable && lane.position === 0) wake(lane.heap.limit);
      }
    },
    pick() {
      while (held < capacity) {
        const lane = runnable.lanes[0];
        if (lane === undefined) return -1;
        const blocker = blockedBy(lane);
        if (blocker < 0) return take(lane);
        removeLane(lane);
        insertLane(limits[blocker]!.parked, lane);
        settled(lane);
      }
      return -1;
    },
    release(id) {
      const lane = lanes[id]!;
      held--;
      for (let i = 0; i < lane.limits.length; i++) limits[lane.limits[i]!]!.used -= lane.amounts[i]!;
      for (const limit of lane.limits) wake(limit);
    },
    retain(keep) {
      for (const lane of lanes) {
        if (lane.cells.size === 0) continue;
        lane.cells.retain(keep);
        if (lane.heap !== undefined) removeLane(lane);
        lane.cameFrom = -1;
        if (lane.cells.size > 0 && !lane.impossible) insertLane(runnable, lane);
      }
    },
    blockedBy(id) {
      const lane = lanes[id]!;
      const tooMuch = lane.limits.find((limit, i) => lane.amounts[i]! > limits[limit]!.size);
      return tooMuch ?? blockedBy(lane);
    },
  };
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
