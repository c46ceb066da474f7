import type { Clock } from '../../src/protocol/clock.ts';

interface Timer {
  at: number;
  readonly action: () => unknown;
}

/** A clock that changes only when the test advances it. A timer sees the time at which it is due. */
export class VirtualClock implements Clock {
  #now: number;
  readonly #timers = new Set<Timer>();

  constructor(now = Date.now()) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, action: () => unknown): () => void {
    const timer = { at: this.#now + ms, action };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Sets the clock without any time passing: timers stay as far away as they are. */
  jump(ms: number): void {
    this.#now += ms;
    for (const timer of this.#timers) timer.at += ms;
  }

  /** Advances by `ms`, fires due timers in order, and awaits their actions. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      const due = [...this.#timers].filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#now = Math.max(this.#now, due.at);
      await due.action();
    }
    this.#now = end;
  }
}
