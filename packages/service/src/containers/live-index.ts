/** Row keys of one account's live containers in order, which is that of their creation; keys are added ascending. */
export class LiveIndex {
  #keys: string[] = [];
  readonly #live = new Set<string>();

  get size(): number {
    return this.#live.size;
  }

  add(key: string): void {
    const last = this.#keys.at(-1);
    if (last !== undefined && last >= key)
      throw new Error(`could not add the key ${key} because it is not after ${last}`);
    this.#keys.push(key);
    this.#live.add(key);
  }

  delete(key: string): void {
    this.#live.delete(key);
    // Holes are swept once they are the larger part, so that each costs a constant amount.
    if (this.#keys.length > 64 && this.#live.size * 2 < this.#keys.length) {
      this.#keys = this.#keys.filter((candidate) => this.#live.has(candidate));
    }
  }

  /** The keys after `after` in order; all, where it is `''`. */
  *after(after: string): Iterable<string> {
    const keys = this.#keys;
    let low = 0;
    let high = keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (keys[middle]! <= after) low = middle + 1;
      else high = middle;
    }
    for (let i = low; i < keys.length; i++) if (this.#live.has(keys[i]!)) yield keys[i]!;
  }
}
