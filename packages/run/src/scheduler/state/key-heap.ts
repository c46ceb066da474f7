/** A binary heap of numbers, smallest first, in one growing array. */
export interface KeyHeap {
  readonly size: number;
  /** The smallest key; Infinity if empty. */
  readonly top: number;
  push(key: number): void;
  /** Removes and returns the smallest key; Infinity if empty. */
  pop(): number;
  /** Removes every key for which `keep` returns false. Linear. */
  retain(keep: (key: number) => boolean): void;
  /** All keys, in no particular order. */
  keys(): Float64Array;
}

/** Creates an empty heap with space for `capacity` keys before it first grows. */
export function createKeyHeap(capacity = 16): KeyHeap {
  let keys = new Float64Array(capacity);
  let size = 0;

  function down(from: number, key: number): void {
    let at = from;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= size) break;
      if (child + 1 < size && keys[child + 1]! < keys[child]!) child++;
      const other = keys[child]!;
      if (other >= key) break;
      keys[at] = other;
      at = child;
    }
    keys[at] = key;
  }

  return {
    get size() {
      return size;
    },
    get top() {
      return size === 0 ? Infinity : keys[0]!;
    },
    push(key) {
      if (size === keys.length) {
        const grown = new Float64Array(size * 2);
        grown.set(keys);
        keys = grown;
      }
      raise(keys, size++, key);
    },
    pop() {
      if (size === 0) return Infinity;
      const key = keys[0]!;
      const last = keys[--size]!;
      if (size > 0) down(0, last);
      return key;
    },
    retain(keep) {
      let kept = 0;
      for (let i = 0; i < size; i++) {
        const key = keys[i]!;
        if (keep(key)) keys[kept++] = key;
      }
      size = kept;
      for (let i = (size >> 1) - 1; i >= 0; i--) down(i, keys[i]!);
    },
    keys() {
      return keys.slice(0, size);
    },
  };
}

function raise(keys: Float64Array, from: number, key: number): void {
  let at = from;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const other = keys[parent]!;
    if (other <= key) break;
    keys[at] = other;
    at = parent;
  }
  keys[at] = key;
}
