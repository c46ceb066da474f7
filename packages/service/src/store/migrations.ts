import { isTerminalPhase } from '@sluice/client';
import { renderListItem } from './render-list-item.ts';
import { put, type Store } from './store.ts';
import { TABLES } from './tables.ts';

/** Each migrates the rows of one version to the next, in one atomic write. The first is for an empty store. */
const MIGRATIONS: readonly ((store: Store) => void)[] = [() => {}, addEndedItems];

/** The version that this program reads and writes. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** Migrates the store to this program's version, durably. Throws if the store is newer, and leaves it unchanged. */
export async function migrate(store: Store): Promise<void> {
  const found = store.get(TABLES.meta, 'schema') ?? 0;
  if (found > SCHEMA_VERSION) {
    throw new Error(
      `could not open the store because it has version ${found} and this program knows versions up to ${SCHEMA_VERSION}`,
    );
  }
  for (let version = found; version < SCHEMA_VERSION; version++) {
    MIGRATIONS[version]!(store);
    store.write([put(TABLES.meta, 'schema', version + 1)]);
    await store.durable();
  }
}

function addEndedItems(store: Store): void {
  for (const [key, row] of store.range(TABLES.containers, { from: '', to: '~' })) {
    if (!isTerminalPhase(row.phase) || row.deleted) continue;
    store.write([put(TABLES.endedItems, key, JSON.stringify(renderListItem(row, row.state)))]);
  }
}
