import { put, type Store } from './store.ts';
import { TABLES } from './tables.ts';

/** The only version of rows that this program reads, and the one that it writes. Raised when rows change. */
export const STORE_VERSION = 3;

/** Marks a new store of the service in `root`, durably. Throws if the store has another version, and leaves it unchanged. */
export async function requireVersion(store: Store, root: string): Promise<void> {
  const found = store.get(TABLES.meta, 'schema');
  if (found === STORE_VERSION) return;
  if (found === undefined) {
    store.write([put(TABLES.meta, 'schema', STORE_VERSION)]);
    return store.durable();
  }
  throw new Error(
    found > STORE_VERSION
      ? `could not open the store because it has version ${found} and this program knows versions up to ${STORE_VERSION}`
      : `could not open the store because an earlier version of this program has written it (version ${found}, and this one reads only ${STORE_VERSION}); use that program, or move ${root} away`,
  );
}
