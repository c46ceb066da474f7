import type { Clock } from '../../src/clock.ts';

/** Time that moves only when everything that can happen now has happened. */
export interface VirtualClock extends Clock {
  /** Moves time on, timer by timer, until `done` says so. Throws when nothing is left that could happen. */
  runUntil(done: () => boolean): Promise<void>;
  /** Resolves after so many milliseconds. */
  delay(ms: number): Promise<void>;
}

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
  canceled: boolean;
}

const START = Date.UTC(2026, 0, 1);
/** Far more than any scenario needs: a run that takes more never ends. */
const MAX_TIMERS = 2_000_000;

export function createVirtualClock(): VirtualClock {
  /** Monotonic: what timers go by. */
  let elapsed = 0;
  let order = 0;
  let fired = 0;
  const timers: Timer[] = [];
  let deferred: (() => void)[] = [];

  function add(at: number, callback: () => void): () => void {
    const timer: Timer = { at, order: order++, callback, canceled: false };
    let index = timers.length;
    timers.push(timer);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(timer, timers[parent]!)) break;
      timers[index] = timers[parent]!;
      index = parent;
    }
    timers[index] = timer;
    return () => {
      timer.canceled = true;
    };
  }

  function takeFirst(): Timer | undefined {
    const first = timers[0];
    const last = timers.pop();
    if (!first || !last || first === last) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= timers.length) break;
      if (child + 1 < timers.length && isBefore(timers[child + 1]!, timers[child]!)) child++;
      if (!isBefore(timers[child]!, last)) break;
      timers[index] = timers[child]!;
      index = child;
    }
    timers[index] = last;
    return first;
  }

  /** Lets every promise that can settle settle, and every deferred callback run. */
  async function settle(): Promise<void> {
    do {
      const callbacks = deferred;
      deferred = [];
      for (const callback of callbacks) callback();
      await new Promise((resolve) => setImmediate(resolve));
    } while (deferred.length > 0);
  }

  return {
    now: () => START + elapsed,
    setTimer: (at, callback) => add(Math.max(elapsed, at - START), callback),
    defer: (callback) => void deferred.push(callback),
    delay: (ms) => new Promise((resolve) => add(elapsed + ms, resolve)),
    async runUntil(done) {
      for (;;) {
        await settle();
        if (done()) return;
        const timer = takeFirst();
        if (!timer) throw new Error('nothing is left that could happen');
        if (timer.canceled) continue;
        if (++fired > MAX_TIMERS) throw new Error('too many timers have fired');
        elapsed = timer.at;
        timer.callback();
      }
    },
  };
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
