/** The row keys of an account's live containers, in the order of creation. Keys must be added in ascending order. */
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
    // Compacted when most entries are holes, so that the cost per deletion is constant on average.
    if (this.#keys.length > 64 && this.#live.size * 2 < this.#keys.length) {
      this.#keys = this.#keys.filter((candidate) => this.#live.has(candidate));
    }
  }

  /** The keys after `after`, in order; all keys if it is `''`. */
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
