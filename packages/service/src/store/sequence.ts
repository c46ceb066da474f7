import { put, type Store } from './store.ts';
import { TABLES } from './tables.ts';

/** Numbers claimed at once; a crash skips at most so many. */
const BLOCK = 65_536;
const WIDTH = 10;

/** Numbers that only grow, also across restarts, written so that they sort as text. */
export interface Sequence {
  next(): string;
}

/** A number is used only in the same transaction as, or after, the one that claims its block. */
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
