import { mkdirSync } from 'node:fs';
import { type Database, open, type RootDatabase } from 'lmdb';
import { Refusal } from '../refusal.ts';
import { mergeRanges } from './merge-ranges.ts';
import type { Change, KeyRange, Store, Table } from './store.ts';

/** What has been written and is not yet on the disk: table name to key to value, undefined where removed. */
type Unflushed = Map<string, Map<string, unknown>>;

interface Commit {
  readonly done: Promise<void>;
}

/**
 * Opens or makes the store in the directory `path`. The caller makes sure that nobody else has it open.
 *
 * Group commit: one LMDB transaction is under way at a time, and all that is written meanwhile goes into the next.
 * `overlappingSync` is off, so that a resolved write has been synced, not merely committed.
 */
export function openLmdbStore(path: string, tables: readonly Table<unknown>[]): Store {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const root = open({ path, maxDbs: tables.length + 4, overlappingSync: false, eventTurnBatching: false });
  const databases = new Map(tables.map((table) => [table.name, root.openDB<unknown, string>({ name: table.name })]));
  return new LmdbStore(root, databases);
}

class LmdbStore implements Store {
  readonly #root: RootDatabase;
  readonly #databases: ReadonlyMap<string, Database<unknown, string>>;
  /** Written, waiting for the next transaction. */
  #waiting: Unflushed = new Map();
  /** In the transaction under way. */
  #flushing: Unflushed = new Map();
  #underWay: Commit | undefined;
  #next: Commit | undefined;
  #failure: Refusal | undefined;
  #closed: Promise<void> | undefined;

  constructor(root: RootDatabase, databases: ReadonlyMap<string, Database<unknown, string>>) {
    this.#root = root;
    this.#databases = databases;
  }

  get<T>(table: Table<T>, key: string): T | undefined {
    for (const unflushed of [this.#waiting, this.#flushing]) {
      const rows = unflushed.get(table.name);
      if (rows?.has(key)) return rows.get(key) as T | undefined;
    }
    return this.#database(table.name).get(key) as T | undefined;
  }

  *range<T>(table: Table<T>, range: KeyRange): Iterable<readonly [string, T]> {
    const unflushed = new Map([...(this.#flushing.get(table.name) ?? []), ...(this.#waiting.get(table.name) ?? [])]);
    const stored = this.#database(table.name).getRange({
      start: range.from,
      end: range.to,
      exclusiveStart: range.after === true,
    });
    yield* mergeRanges(stored, unflushed, range) as Iterable<readonly [string, T]>;
  }

  write(changes: readonly Change[]): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#closed !== undefined)
      throw new Refusal('CLOSING', 'could not change anything because the service is closing');
    for (const { table, key, value } of changes) {
      let rows = this.#waiting.get(table);
      if (rows === undefined) {
        rows = new Map();
        this.#waiting.set(table, rows);
      }
      rows.set(key, value);
    }
    this.#scheduleNext();
  }

  durable(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return (this.#next ?? this.#underWay)?.done ?? Promise.resolve();
  }

  get failure(): unknown {
    return this.#failure;
  }

  close(): Promise<void> {
    this.#closed ??= this.durable()
      .catch(() => {})
      .then(() => this.#root.close());
    return this.#closed;
  }

  #database(table: string): Database<unknown, string> {
    const database = this.#databases.get(table);
    if (database === undefined) throw new Error(`could not find the table '${table}' in the store`);
    return database;
  }

  #scheduleNext(): void {
    if (this.#next !== undefined) return;
    const previous = this.#underWay?.done ?? Promise.resolve();
    const commit: Commit = { done: previous.then(() => this.#commit()) };
    // Whoever awaits `durable` hears of a failure; without any, the next write does.
    commit.done.catch(() => {});
    this.#next = commit;
  }

  async #commit(): Promise<void> {
    this.#underWay = this.#next;
    this.#next = undefined;
    this.#flushing = this.#waiting;
    this.#waiting = new Map();
    try {
      // All promises are awaited: one left alone would end the process, were the commit to fail. For the same reason
      // LMDB does not do its own batching, which keeps such a promise to itself.
      const written = new Set<Promise<unknown>>();
      const batch = this.#root.batch(() => {
        for (const [table, rows] of this.#flushing) {
          const database = this.#database(table);
          for (const [key, value] of rows) {
            written.add(value === undefined ? database.remove(key) : database.put(key, value));
          }
        }
      });
      written.add(batch);
      await Promise.all(written);
    } catch (error) {
      // A failed sync is never tried again: the kernel may have dropped the pages and would report success.
      this.#failure = new Refusal(
        'STORE_UNAVAILABLE',
        'could not write to the store; restart the service once the disk is well',
        { cause: await commitError(error) },
      );
      throw this.#failure;
    } finally {
      this.#flushing = new Map();
      if (this.#next === undefined) this.#underWay = undefined;
    }
  }
}

/** LMDB tells the reason of a failed commit by another promise, which rejects with it. */
async function commitError(error: unknown): Promise<unknown> {
  const reason = (error as { commitError?: Promise<unknown> } | null)?.commitError;
  return reason === undefined
    ? error
    : Promise.resolve(reason).then(
        () => error,
        (cause: unknown) => cause,
      );
}
