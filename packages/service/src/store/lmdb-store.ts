import { mkdirSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { isServiceError } from '@sluice/client';
import { type Database, open, type RootDatabase } from 'lmdb';
import { Refusal } from '../refusal.ts';
import { mergeRanges } from './merge-ranges.ts';
import type { Change, KeyRange, Store, Table, WriteOptions } from './store.ts';

/** What has been written and is not yet on the disk: table name to key to value, undefined where removed. */
type Unflushed = Map<string, Map<string, unknown>>;

/** Between two tries while the disk is full. */
const RETRY_MS = 1000;
/** How long what can wait waits at most for something that cannot. */
const LINGER_MS = 100;

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
  /** What waits can wait. */
  #linger: NodeJS.Timeout | undefined;
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

  write(changes: readonly Change[], { canWait = false }: WriteOptions = {}): void {
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
    if (!canWait) this.#scheduleNext();
    else if (this.#next === undefined) this.#linger ??= setTimeout(() => this.#scheduleNext(), LINGER_MS);
  }

  async durable(): Promise<void> {
    for (;;) {
      try {
        return await this.#latest();
      } catch (error) {
        if (!isStoreFull(error) || this.#closed !== undefined) throw error;
      }
    }
  }

  async commit(changes: readonly Change[]): Promise<void> {
    const earlier = changes.map(({ table, key }) => ({ table, key, value: this.get({ name: table }, key) }));
    this.write(changes);
    try {
      await this.#latest();
    } catch (error) {
      // Only what nobody has changed since: that is for whoever did.
      const isOurs = (i: number) => this.get({ name: changes[i]!.table }, changes[i]!.key) === changes[i]!.value;
      if (isStoreFull(error) && this.#closed === undefined) this.write(earlier.filter((_, i) => isOurs(i)));
      throw error;
    }
  }

  get failure(): unknown {
    return this.#failure;
  }

  close(): Promise<void> {
    this.#closed ??= this.#latest()
      .catch(() => {})
      .then(() => this.#root.close());
    return this.#closed;
  }

  async #latest(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#linger !== undefined) this.#scheduleNext();
    await (this.#next ?? this.#underWay)?.done;
  }

  #database(table: string): Database<unknown, string> {
    const database = this.#databases.get(table);
    if (database === undefined) throw new Error(`could not find the table '${table}' in the store`);
    return database;
  }

  #scheduleNext(previous: Promise<void> = this.#underWay?.done ?? Promise.resolve()): void {
    clearTimeout(this.#linger);
    this.#linger = undefined;
    if (this.#next !== undefined) return;
    const flush = () => this.#flush();
    // After a full disk a while later: until then those who were refused take back what they wrote.
    const commit: Commit = { done: previous.then(flush, () => delay(RETRY_MS).then(flush)) };
    // Whoever awaits `durable` hears of a failure; without any, the next write does.
    commit.done.catch(() => {});
    this.#next = commit;
  }

  async #flush(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
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
      throw this.#refusalOf(await commitError(error));
    } finally {
      this.#flushing = new Map();
      if (this.#next === undefined) this.#underWay = undefined;
      // Also when nobody writes: what must become durable, such as the end of a container, is tried again.
      const isLeft = this.#waiting.size > 0 && this.#next === undefined && this.#linger === undefined;
      if (isLeft && this.#closed === undefined) this.#scheduleNext(delay(RETRY_MS));
    }
  }

  #refusalOf(cause: unknown): Refusal {
    if (isDiskFull(cause)) {
      // LMDB has dropped the transaction, and one that is made anew writes all its pages anew. It is laid under what
      // was written meanwhile.
      for (const [table, rows] of this.#flushing) {
        this.#waiting.set(table, new Map([...rows, ...(this.#waiting.get(table) ?? [])]));
      }
      const message = 'could not write to the store because its disk is full; try again once there is room';
      return new Refusal('STORE_FULL', message, { cause, retryAfterMs: 5000 });
    }
    // A failed sync is never tried again: the kernel may have dropped the pages and would report success.
    const message = 'could not write to the store; restart the service once the disk is well';
    this.#failure = new Refusal('STORE_UNAVAILABLE', message, { cause });
    return this.#failure;
  }
}

/** Whether a write was refused because the disk is full, and may be tried again. */
export function isStoreFull(error: unknown): boolean {
  return isServiceError(error, 'UNAVAILABLE') && error.reason === 'STORE_FULL';
}

function isDiskFull(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return code === constants.errno.ENOSPC || code === constants.errno.EDQUOT;
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
