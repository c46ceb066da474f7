/**
 * What a timer is for. Timers are not removed when they become void: whether one still applies is checked when it is
 * due.
 */
type TimerKind = 'due' | 'timeout' | 'queueTimeout' | 'pullTimeout' | 'deadline' | 'approval' | 'runTimeout';

/** A time that the run waits for, in milliseconds since the epoch. */
export interface Timer {
  readonly at: number;
  readonly kind: TimerKind;
  readonly step: number;
  readonly cell: number;
  /** 0 if it concerns all attempts. */
  readonly attempt: number;
}

/** All the times that the run waits for: earliest first, then in the order in which they were set. */
export interface Timers {
  readonly next: Timer | undefined;
  readonly size: number;
  add(timer: Timer): void;
  pop(): Timer | undefined;
  /** Removes every timer for which `keep` returns false. Linear. */
  retain(keep: (timer: Timer) => boolean): void;
}

interface Entry {
  readonly timer: Timer;
  /** Timers for the same time fire in the order in which they were set. */
  readonly order: number;
}

/** Creates an empty set of timers. */
export function createTimers(): Timers {
  let heap: Entry[] = [];
  let order = 0;
  return {
    get next() {
      return heap[0]?.timer;
    },
    get size() {
      return heap.length;
    },
    add(timer) {
      const entry = { timer, order: order++ };
      heap.push(entry);
      rise(heap, heap.length - 1, entry);
    },
    pop() {
      const first = heap[0];
      const last = heap.pop();
      if (last !== undefined && heap.length > 0) sink(heap, 0, last);
      return first?.timer;
    },
    retain(keep) {
      heap = heap.filter(({ timer }) => keep(timer));
      for (let at = (heap.length >> 1) - 1; at >= 0; at--) sink(heap, at, heap[at]!);
    },
  };
}

function isBefore(left: Entry, right: Entry): boolean {
  return left.timer.at < right.timer.at || (left.timer.at === right.timer.at && left.order < right.order);
}

function rise(heap: Entry[], from: number, entry: Entry): void {
  let at = from;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!isBefore(entry, heap[parent]!)) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = entry;
}

function sink(heap: Entry[], from: number, entry: Entry): void {
  let at = from;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
    if (!isBefore(heap[child]!, entry)) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = entry;
}
