import type { Clock } from '@sluice/home';

/** Time that moves only when everything that can happen now has happened. */
export interface VirtualClock extends Clock {
  /** Moves time on, timer by timer, until `done` says so. Throws when nothing is left that could happen. */
  runUntil(done: () => boolean): Promise<void>;
  /** Resolves after so many milliseconds. */
  delay(ms: number): Promise<void>;
  /** Sets the machine's clock forwards or back: time goes on as before. */
  jump(ms: number): void;
  /** How far the machine's clock is ahead of the time that has really passed. */
  readonly ahead: number;
  /** The machine starts anew: its uptime begins again. */
  reboot(): void;
}

/** Moves time on until the promise is settled. */
export async function runUntilSettled<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  let settled = false;
  const done = () => {
    settled = true;
  };
  promise.then(done, done);
  await clock.runUntil(() => settled);
  return promise;
}

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
  canceled: boolean;
}

/** StartDecisions of the event loop that real files are waited for: seconds, even on a fast machine. */
const FILE_TURNS = 2_000_000;
const START = Date.UTC(2026, 0, 1);
/** Far more than any scenario needs: a run that takes more never ends. */
const MAX_TIMERS = 2_000_000;

export interface VirtualClockOptions {
  /** Time stands still while real files are read or written. */
  readonly awaitsFiles?: boolean;
}

export function createVirtualClock({ awaitsFiles = false }: VirtualClockOptions = {}): VirtualClock {
  /** Monotonic: what timers go by. */
  let elapsed = 0;
  let order = 0;
  let fired = 0;
  let ahead = 0;
  let boots = 1;
  let bootedAt = 0;
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
    } while (deferred.length > 0 || (awaitsFiles && usesFiles()));
  }

  return {
    now: () => START + elapsed,
    wall: () => START + elapsed + ahead,
    boot: () => ({ id: `boot-${boots}`, uptimeMs: elapsed - bootedAt }),
    jump(ms) {
      ahead += ms;
    },
    get ahead() {
      return ahead;
    },
    reboot() {
      boots++;
      bootedAt = elapsed;
    },
    setTimer: (at, callback) => add(Math.max(elapsed, at - START), callback),
    defer: (callback) => void deferred.push(callback),
    delay: (ms) => new Promise((resolve) => add(elapsed + ms, resolve)),
    async runUntil(done) {
      for (let turns = 0; ; turns++) {
        await settle();
        if (done()) return;
        const timer = takeFirst();
        if (!timer && awaitsFiles && turns < FILE_TURNS) continue;
        turns = 0;
        if (!timer) throw new Error('nothing is left that could happen');
        if (timer.canceled) continue;
        if (++fired > MAX_TIMERS) throw new Error('too many timers have fired');
        elapsed = timer.at;
        timer.callback();
      }
    },
  };
}

function usesFiles(): boolean {
  return process.getActiveResourcesInfo().some((name) => /^FSReq|^FileHandleCloseReq/.test(name));
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
