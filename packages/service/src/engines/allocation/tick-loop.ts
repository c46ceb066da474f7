/** Repeats work that may take long, never twice at the same time. */
export class TickLoop {
  readonly #tick: () => Promise<number>;
  #timer: NodeJS.Timeout | undefined;
  #ticking: Promise<void> | undefined;
  #isClosed = false;

  /** `tick` resolves to the pause until the next one, in milliseconds, and must not reject. */
  constructor(tick: () => Promise<number>) {
    this.#tick = tick;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The next one begins after `ms`, unless one is in progress. */
  soon(ms: number): void {
    if (this.#isClosed || this.#ticking !== undefined) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#ticking = this.#tick().then((pause) => {
        this.#ticking = undefined;
        this.soon(pause);
      });
    }, ms);
  }

  /** Waits for the one in progress. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#ticking;
  }
}
