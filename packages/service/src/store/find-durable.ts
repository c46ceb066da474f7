import type { Store } from './store.ts';

/** Gives what `find` gives. What another call has removed is gone once that is durable: only then its error is thrown. */
export async function findDurable<T>(store: Store, find: () => T | Promise<T>): Promise<T> {
  try {
    return await find();
  } catch (error) {
    await store.commit([]);
    throw error;
  }
}
