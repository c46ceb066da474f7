/** What a timer is for. Its meaning is checked again when it is due: a timer is never taken back, it only becomes void. */
export type TimerKind = 'due' | 'timeout' | 'queueTimeout' | 'deadline' | 'approval' | 'runTimeout';

export interface Timer {
  readonly at: number;
  readonly kind: TimerKind;
  readonly step: number;
  readonly cell: number;
  /** 0 where it is about all attempts. */
  readonly attempt: number;
}

/** All the times that the run waits for, soonest first, then in the order they were set. */
export interface Timers {
  readonly next: Timer | undefined;
  readonly size: number;
  add(timer: Timer): void;
  pop(): Timer | undefined;
  /** When the cell's back-off ends; Infinity where it has none. Linear. */
  dueAt(step: number, cell: number): number;
}

export function createTimers(): Timers {
  const heap: { timer: Timer; order: number }[] = [];
  let order = 0;
  const before = (a: number, b: number) => {
    const left = heap[a]!;
    const right = heap[b]!;
    return left.timer.at - right.timer.at || left.order - right.order;
  };
  const swap = (a: number, b: number) => {
    const kept = heap[a]!;
    heap[a] = heap[b]!;
    heap[b] = kept;
  };
  return {
    get next() {
      return heap[0]?.timer;
    },
    get size() {
      return heap.length;
    },
    add(timer) {
      let at = heap.push({ timer, order: order++ }) - 1;
      while (at > 0 && before(at, (at - 1) >> 1) < 0) {
        swap(at, (at - 1) >> 1);
        at = (at - 1) >> 1;
      }
    },
    pop() {
      const first = heap[0];
      const last = heap.pop();
      if (first === undefined || last === undefined) return undefined;
      if (heap.length > 0) {
        heap[0] = last;
        let at = 0;
        for (;;) {
          let child = 2 * at + 1;
          if (child >= heap.length) break;
          if (child + 1 < heap.length && before(child + 1, child) < 0) child++;
          if (before(child, at) >= 0) break;
          swap(child, at);
          at = child;
        }
      }
      return first.timer;
    },
    dueAt(step, cell) {
      const found = heap.find(({ timer }) => timer.kind === 'due' && timer.step === step && timer.cell === cell);
      return found?.timer.at ?? Infinity;
    },
  };
}
