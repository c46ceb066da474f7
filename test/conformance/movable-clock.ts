import { type Clock, systemClock } from '@sluice/service';

/** Less than the day by which a server's clock may jump (decision 0069). */
const LONGEST_STEP_MS = 12 * 3_600_000;

interface Timer {
  readonly at: number;
  readonly action: () => void | Promise<void>;
  stop: () => void;
}

/** The machine's time, which the test may put forward; timers that come due by it fire in order. */
export class MovableClock implements Clock {
  #ahead = 0;
  readonly #timers = new Set<Timer>();

  now(): number {
    return Date.now() + this.#ahead;
  }

  after(ms: number, action: () => void | Promise<void>): () => void {
    const timer: Timer = { at: this.now() + ms, action, stop: () => {} };
    this.#timers.add(timer);
    timer.stop = systemClock.after(ms, () => this.#fire(timer));
    return () => {
      timer.stop();
      this.#timers.delete(timer);
    };
  }

  /** Lets time pass in steps, and waits for what each sets off. */
  async advance(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= LONGEST_STEP_MS) {
      this.#ahead += Math.min(left, LONGEST_STEP_MS);
      await this.#fireDue();
    }
  }

  async #fireDue(): Promise<void> {
    for (;;) {
      const [due] = [...this.#timers].filter((it) => it.at <= this.now()).sort((a, b) => a.at - b.at);
      if (due === undefined) return;
      await this.#fire(due);
    }
  }

  #fire(timer: Timer): void | Promise<void> {
    timer.stop();
    return this.#timers.delete(timer) ? timer.action() : undefined;
  }
}
