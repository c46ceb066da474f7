import { mkdirSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { isServiceError } from '@sluice/client';
import { type Database, open, type RootDatabase } from 'lmdb';
import { RequestError } from '../protocol/request-error.ts';
import { openSpaceReserve, readFreeSpace, type SpaceReserve } from './free-space.ts';
import { mergeRanges } from './merge-ranges.ts';
import type { Change, KeyRange, Store, StoreOptions, Table, WriteOptions } from './store.ts';
import { UnflushedRows } from './unflushed-rows.ts';

/** Interval between attempts while the disk is full. */
const RETRY_MS = 1000;
/** The longest delay of a `canWait` write until it is flushed on its own. */
const LINGER_MS = 100;
/** With less free space, `commit` is rejected. The rest is reserved for `write`, such as the end of a container. */
const RESERVED_BYTES = 1024 * 1024;
/** What a transaction may need in addition to its rows. LMDB should never hit a full disk: it prints that to standard error. */
const FLUSH_BYTES = 256 * 1024;
/**
 * Held in a file, and released for `write` when programs have taken even `RESERVED_BYTES`. A container that has ended no
 * longer writes, so it cannot take what is released for its end.
 */
const HELD_BYTES = 512 * 1024;
/** LMDB throws on longer keys. Names come from clients, and an error of LMDB means that the store is unusable. */
const MAX_KEY_BYTES = 1024;
/** With more free space than this, the size of a transaction is not estimated. */
const AMPLE_BYTES = 256 * 1024 * 1024;

interface Commit {
  readonly done: Promise<void>;
}

/**
 * Opens or creates the store in the directory `path`. The caller ensures that no other service process has it open.
 *
 * Group commit: one LMDB transaction is in flight at a time; writes during that time are collected in the next one.
 * `overlappingSync` is off, so that a resolved write is synced, not only committed.
 */
export function openLmdbStore(path: string, tables: readonly Table<unknown>[], options: StoreOptions = {}): Store {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const root = open({ path, maxDbs: tables.length + 4, overlappingSync: false, eventTurnBatching: false });
  const databases = new Map(tables.map((table) => [table.name, root.openDB<unknown, string>({ name: table.name })]));
  return new LmdbStore(root, { path, databases, options });
}

class LmdbStore implements Store {
  readonly #root: RootDatabase;
  readonly #path: string;
  readonly #reserve: SpaceReserve;
  readonly #databases: ReadonlyMap<string, Database<unknown, string>>;
  readonly #options: StoreOptions;
  /** Written, but not yet in a transaction. */
  #waiting = new UnflushedRows();
  /** In the transaction in flight. */
  #flushing = new UnflushedRows();
  #inFlight: Commit | undefined;
  #next: Commit | undefined;
  /** Set while all waiting writes are `canWait`. */
  #linger: NodeJS.Timeout | undefined;
  /** A write waits that is not `canWait`, such as the end of a container. */
  #isOwed = false;
  #failure: RequestError | undefined;
  #shortage: RequestError | undefined;
  #closed: Promise<void> | undefined;

  constructor(
    root: RootDatabase,
    given: { path: string; databases: ReadonlyMap<string, Database<unknown, string>>; options: StoreOptions },
  ) {
    this.#root = root;
    this.#path = given.path;
    this.#reserve = openSpaceReserve(given.path);
    this.#holdReserve();
    this.#databases = given.databases;
    this.#options = given.options;
  }

  get<T>(table: Table<T>, key: string): T | undefined {
    for (const unflushed of [this.#waiting, this.#flushing]) {
      const rows = unflushed.of(table.name);
      if (rows?.has(key)) return rows.get(key) as T | undefined;
    }
    if (!isKey(key)) return undefined;
    try {
      return this.#database(table.name).get(key) as T | undefined;
    } catch (error) {
      throw this.#failRead(error);
    }
  }

  *range<T>(table: Table<T>, range: KeyRange): Iterable<readonly [string, T]> {
    for (const key of [range.from, range.to]) requireKey(key);
    const unflushed = new Map([...(this.#flushing.of(table.name) ?? []), ...(this.#waiting.of(table.name) ?? [])]);
    const limits = { start: range.from, end: range.to, exclusiveStart: range.after === true };
    try {
      // LMDB reads lazily, while the caller iterates.
      const stored = this.#database(table.name).getRange(limits);
      yield* mergeRanges(stored, unflushed, range) as Iterable<readonly [string, T]>;
    } catch (error) {
      throw this.#failRead(error);
    }
  }

  write(changes: readonly Change[], { canWait = false }: WriteOptions = {}): void {
    this.#requireUsable();
    for (const { key } of changes) requireKey(key);
    this.#waiting.add(changes, { isRevocable: false });
    this.#isOwed ||= !canWait;
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
    this.#requireUsable();
    if (changes.length === 0 && this.#waiting.isEmpty && this.#flushing.isEmpty) return;
    if (this.#shortage !== undefined) throw this.#shortage;
    for (const { key } of changes) requireKey(key);
    this.#waiting.add(changes, { isRevocable: true });
    this.#scheduleNext();
    await this.#latest();
  }

  get failure(): unknown {
    return this.#failure;
  }

  get shortage(): string | undefined {
    if (this.#shortage === undefined && readFreeSpace(this.#path) < RESERVED_BYTES) this.#runShort();
    return this.#shortage?.message;
  }

  close(): Promise<void> {
    this.#closed ??= this.#latest()
      .catch(() => {})
      .then(() => this.#root.close());
    return this.#closed;
  }

  #requireUsable(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#closed !== undefined)
      throw new RequestError('CLOSING', 'could not change anything because the service is closing');
  }

  async #latest(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#linger !== undefined) this.#scheduleNext();
    await (this.#next ?? this.#inFlight)?.done;
  }

  #database(table: string): Database<unknown, string> {
    const database = this.#databases.get(table);
    if (database === undefined) throw new Error(`could not find the table '${table}' in the store`);
    return database;
  }

  #scheduleNext(previous: Promise<void> = this.#inFlight?.done ?? Promise.resolve()): void {
    clearTimeout(this.#linger);
    this.#linger = undefined;
    if (this.#next !== undefined) return;
    const flush = () => this.#flush();
    const commit: Commit = { done: previous.then(flush, () => delay(RETRY_MS).then(flush)) };
    // A caller that awaits `durable` gets the failure; without one, the next write does.
    commit.done.catch(() => {});
    this.#next = commit;
  }

  async #flush(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    this.#inFlight = this.#next;
    this.#next = undefined;
    this.#flushing = this.#waiting;
    this.#waiting = new UnflushedRows();
    const isOwed = this.#isOwed;
    this.#isOwed = false;
    try {
      const rejected = this.#checkSpace(isOwed);
      await this.#put(this.#flushing.rows());
      this.#flushing = new UnflushedRows();
      if (rejected !== undefined) throw rejected;
    } catch (error) {
      this.#isOwed ||= isOwed;
      throw this.#handleFailedFlush(await commitError(error));
    } finally {
      this.#flushing = new UnflushedRows();
      if (this.#next === undefined) this.#inFlight = undefined;
      // Retried without new writes too: what must become durable, such as the end of a container.
      const isLeft = !this.#waiting.isEmpty && this.#next === undefined && this.#linger === undefined;
      if (isLeft && this.#closed === undefined) this.#scheduleNext(delay(RETRY_MS));
    }
  }

  async #put(rows: Iterable<readonly [table: string, rows: ReadonlyMap<string, unknown>]>): Promise<void> {
    // All promises are awaited: an unhandled one would end the process if the commit fails. For the same reason LMDB's own
    // batching is off, since it creates such a promise internally.
    const written = new Set<Promise<unknown>>();
    const batch = this.#root.batch(() => {
      for (const [table, ofTable] of rows) {
        const database = this.#database(table);
        for (const [key, value] of ofTable) {
          written.add(value === undefined ? database.remove(key) : database.put(key, value));
        }
      }
    });
    written.add(batch);
    await Promise.all(written);
  }

  /**
   * Throws if the disk is full. Returns the error for revoked changes if there is space only for the others. Only if `isOwed`,
   * these may take the reserve.
   */
  #checkSpace(isOwed: boolean): RequestError | undefined {
    const free = readFreeSpace(this.#path);
    if (free >= AMPLE_BYTES && this.#shortage === undefined) return undefined;
    if (this.#shortage === undefined && free >= RESERVED_BYTES + this.#flushing.estimateBytes()) return undefined;
    const shortage = this.#runShort();
    const isRevoked = this.#flushing.revoke();
    const needed = FLUSH_BYTES + this.#flushing.estimateBytes();
    if (free < needed && isOwed) this.#reserve.hold(0);
    const held = this.#reserve.bytes;
    if (readFreeSpace(this.#path) < needed || !this.#reserve.hold(held + needed)) throw shortage;
    this.#reserve.hold(held);
    return isRevoked ? shortage : undefined;
  }

  #handleFailedFlush(cause: unknown): RequestError {
    if (isStoreFull(cause) || ((isDiskFull(cause) || this.#isShortWrite(cause)) && !mayHaveDamagedMemory(cause))) {
      // LMDB has dropped the transaction, and the next one writes all its pages again. Rejected changes are removed from it;
      // newer writes take precedence over the rest.
      this.#flushing.revoke();
      this.#waiting = this.#flushing.with(this.#waiting);
      return isStoreFull(cause) ? (cause as RequestError) : this.#runShort(cause);
    }
    // A failed write is never retried: the kernel may have dropped the pages and would report success.
    return this.#fail(cause);
  }

  #fail(cause: unknown): RequestError {
    if (this.#failure !== undefined) return this.#failure;
    const message = 'could not use the store; restart the service once the disk works';
    this.#failure = new RequestError('STORE_UNAVAILABLE', message, { cause });
    this.#options.onFailure?.(this.#failure);
    return this.#failure;
  }

  /** A failed read fails the store, because LMDB is unusable after some failed writes. */
  #failRead(error: unknown): unknown {
    return this.#closed === undefined ? this.#fail(error) : error;
  }

  /** LMDB reports a write cut short by a full disk as an I/O error. Nothing has been synced at that point. */
  #isShortWrite(error: unknown): boolean {
    return codeOf(error) === constants.errno.EIO && readFreeSpace(this.#path) < RESERVED_BYTES;
  }

  /** Rejects `commit` until space is free again. */
  #runShort(cause?: unknown): RequestError {
    if (this.#shortage !== undefined) return this.#shortage;
    const message = 'could not write to the store because its disk is full; try again once space is free';
    this.#shortage = new RequestError('STORE_FULL', message, { cause, retryAfterMs: 5000 });
    this.#options.onShortage?.(message);
    setTimeout(() => this.#pollFreeSpace(), RETRY_MS).unref();
    return this.#shortage;
  }

  /** False if the disk has no space for it beside `RESERVED_BYTES`. */
  #holdReserve(): boolean {
    const free = readFreeSpace(this.#path) + this.#reserve.bytes;
    if (free < RESERVED_BYTES + HELD_BYTES || !this.#reserve.hold(RESERVED_BYTES + HELD_BYTES)) return false;
    return this.#reserve.hold(HELD_BYTES);
  }

  #pollFreeSpace(): void {
    if (this.#closed !== undefined || this.#failure !== undefined) return;
    if (!this.#holdReserve()) {
      setTimeout(() => this.#pollFreeSpace(), RETRY_MS).unref();
      return;
    }
    this.#shortage = undefined;
    this.#options.onShortage?.(undefined);
  }
}

function isKey(key: string): boolean {
  return Buffer.byteLength(key) <= MAX_KEY_BYTES;
}

function requireKey(key: string): void {
  if (!isKey(key)) throw new RangeError(`could not use a key of ${key.length} characters in the store`);
}

/** Whether a `commit` was rejected because the disk is full; it may be retried. */
export function isStoreFull(error: unknown): boolean {
  return isServiceError(error, 'UNAVAILABLE') && error.reason === 'STORE_FULL';
}

function isDiskFull(error: unknown): boolean {
  const code = codeOf(error);
  return code === constants.errno.ENOSPC || code === constants.errno.EDQUOT;
}

/**
 * If a write to the database file fails, lmdb 3.5.6 writes an error message beyond the memory that it has allocated for it:
 * later allocations can crash the process. Such a process must not write again.
 */
function mayHaveDamagedMemory(error: unknown): boolean {
  return /Attempting to write page/.test(String((error as Error | null)?.message));
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | null)?.code;
}

/** LMDB provides the cause of a failed commit in another promise, which rejects with it. */
async function commitError(error: unknown): Promise<unknown> {
  const reason = (error as { commitError?: Promise<unknown> } | null)?.commitError;
  return reason === undefined
    ? error
    : Promise.resolve(reason).then(
        () => error,
        (cause: unknown) => cause,
      );
}
