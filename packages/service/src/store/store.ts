/**
 * The service's rows. Keys are strings, sorted by their bytes; values are plain data. Reads see all earlier writes, durable
 * or not. Await `durable` before reporting something that must remain true after a crash. Keys have at most 1 kB in UTF-8:
 * writing a longer one throws a `RangeError` and changes nothing.
 */
export interface Store {
  /** Undefined, too, for a key that is too long to be written. */
  get<T>(table: Table<T>, key: string): T | undefined;
  /** Entries with `from <= key < to`, in key order; `after` excludes `from` itself. */
  range<T>(table: Table<T>, range: KeyRange): Iterable<readonly [key: string, value: T]>;
  /** Makes the changes atomically: after a crash, either all or none of them exist. */
  write(changes: readonly Change[], options?: WriteOptions): void;
  /** Resolves when all earlier writes are on disk, even if the disk is full for a while. Rejects if the store has failed. */
  durable(): Promise<void>;
  /**
   * Writes, and resolves when this and all earlier writes are on disk. If the disk is full, drops the changes and rejects
   * with `STORE_FULL`. For changes whose caller waits and can retry.
   */
  commit(changes: readonly Change[]): Promise<void>;
  /** The error that made the store permanently unusable; otherwise undefined. */
  readonly failure: unknown;
  /** Why `commit` is currently rejected: the disk is full. Undefined again once space is free. */
  readonly shortage: string | undefined;
  /** Waits for earlier writes, then closes the database. Idempotent. */
  close(): Promise<void>;
}

/** Notifications of a store. */
export interface StoreOptions {
  /** Called with the reason when the disk becomes full, and with undefined when space is free again. */
  readonly onShortage?: (reason: string | undefined) => void;
  /** Called once, when the store has failed permanently. */
  readonly onFailure?: (error: unknown) => void;
}

/** How soon a write reaches the disk. */
export interface WriteOptions {
  /**
   * The change may be lost in a crash, because it can be determined again. It is flushed with the next other write, or after
   * 100 ms. Default: false.
   */
  readonly canWait?: boolean;
}

/** A named set of rows with values of type `T`. */
export interface Table<T> {
  readonly name: string;
  /** Never set; exists only to bind the type. */
  readonly row?: T;
}

/** Keys with `from <= key < to`. */
export interface KeyRange {
  readonly from: string;
  readonly to: string;
  /** Excludes `from` itself. */
  readonly after?: boolean;
}

/** A row to write or, if `value` is undefined, to remove. Created by `put` and `remove`. */
export interface Change {
  readonly table: string;
  readonly key: string;
  readonly value: unknown;
}

/** Inserts or replaces a row, when passed to `write` or `commit`. */
export function put<T>(table: Table<T>, key: string, value: T): Change {
  return { table: table.name, key, value };
}

/** Removes a row, when passed to `write` or `commit`; no effect if it does not exist. */
export function remove(table: Table<unknown>, key: string): Change {
  return { table: table.name, key, value: undefined };
}
