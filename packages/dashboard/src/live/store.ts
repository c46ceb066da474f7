/** Something that changes and notifies those that show it. */
export class Store {
  readonly #listeners = new Set<() => void>();
  /** Grows with each change. */
  version = 0;
  #frame: number | undefined;

  /** Calls `listener` after changes, at most once per frame. Returns a function that ends this. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Reports a change. */
  protected changed(): void {
    this.version++;
    // A page in the background has no frames.
    if (document.hidden) this.#notify();
    else this.#frame ??= requestAnimationFrame(() => this.#notify());
  }

  #notify(): void {
    this.#frame = undefined;
    for (const listener of [...this.#listeners]) listener();
  }
}
