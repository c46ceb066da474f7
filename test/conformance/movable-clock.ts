import { type Clock, systemClock } from '@sluice/service';

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

  /** Puts the time forward and waits for what that sets off. */
  async advance(ms: number): Promise<void> {
    this.#ahead += ms;
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
