import { put, type Store } from './store.ts';
import { TABLES } from './tables.ts';

/** Numbers reserved by one write. A crash skips at most this many. */
const BLOCK = 65_536;
const WIDTH = 10;

/** Numbers that grow, across restarts too, formatted so that they sort as text. */
export interface Sequence {
  next(): string;
}

/** Each block is reserved by a write that is flushed with, or before, the first row that uses one of its numbers. */
export function openSequence(store: Store): Sequence {
  let limit = store.get(TABLES.meta, 'sequence') ?? 0;
  let current = limit;
  return {
    next() {
      if (current === limit) {
        limit += BLOCK;
        store.write([put(TABLES.meta, 'sequence', limit)]);
      }
      current++;
      return current.toString(36).padStart(WIDTH, '0');
    },
  };
}
