import { own } from '@sluice/core';

/** A map of strings whose entries are soon deleted again. */
export interface TransientMap<T> {
  readonly size: number;
  get(key: string): T | undefined;
  set(key: string, value: T): void;
  delete(key: string): void;
  /** In the order in which their keys were added. */
  keys(): string[];
  /** In the order of the keys. */
  values(): T[];
}

/**
 * Creates an empty map. An entry that was deleted is free for the garbage collection of young objects. Of a `Map` it is
 * often not: V8 links each table that a `Map` has outgrown to the next one, so that after the first of them is old, all
 * entries stay until the next collection of all objects. In a run of 500,000 cells, that was most of the memory.
 */
export function createTransientMap<T>(): TransientMap<T> {
  const entries: Record<string, T> = Object.create(null);
  let size = 0;
  return {
    get size() {
      return size;
    },
    get: (key) => own(entries, key),
    set(key, value) {
      if (!Object.hasOwn(entries, key)) size++;
      entries[key] = value;
    },
    delete(key) {
      if (!Object.hasOwn(entries, key)) return;
      delete entries[key];
      size--;
    },
    keys: () => Object.keys(entries),
    values: () => Object.values(entries),
  };
}
