import type { Store } from './store.ts';

/**
 * Calls `find`. If it throws because another call removed the row, waits until that removal is durable before rethrowing:
 * otherwise a crash could restore a row that was reported as removed.
 */
export async function findDurable<T>(store: Store, find: () => T | Promise<T>): Promise<T> {
  try {
    return await find();
  } catch (error) {
    await store.commit([]);
    throw error;
  }
}
