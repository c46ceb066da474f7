/**
 * The service's rows. Keys are strings and sort by their bytes; values are plain data. Reads see every write made
 * before them, durable or not; who must not be contradicted by a crash awaits `durable` before saying so.
 */
export interface Store {
  get<T>(table: Table<T>, key: string): T | undefined;
  /** Entries with `from <= key < to`, in key order; `after` excludes `from` itself. */
  range<T>(table: Table<T>, range: KeyRange): Iterable<readonly [key: string, value: T]>;
  /** Makes the changes together: after a crash all of them are there or none. */
  write(changes: readonly Change[], options?: WriteOptions): void;
  /** Resolves when every write made so far is on the disk, however long that is full; rejects when it cannot get there. */
  durable(): Promise<void>;
  /**
   * Writes, and resolves when that and all before is on the disk. Where the disk is full the changes are dropped, as if
   * they had never been written, and it rejects with `STORE_FULL`: for what a caller waits for and can ask for again.
   */
  commit(changes: readonly Change[]): Promise<void>;
  /** Why nothing can be written any more, if so; it does not go away. */
  readonly failure: unknown;
  /** Why `commit` is refused at present, if so: the disk is full. It goes away by itself once space is free. */
  readonly shortage: string | undefined;
  /** Waits for the writes made so far, then lets go. Idempotent. */
  close(): Promise<void>;
}

export interface StoreOptions {
  /** Called when the disk has become full, with the reason, and with nothing once space is free again. */
  readonly onShortage?: (reason: string | undefined) => void;
  /** Called once, when nothing can be written any more. */
  readonly onFailure?: (error: unknown) => void;
}

export interface WriteOptions {
  /**
   * Nobody waits for it, and a crash may take it, since it is learned again: it goes to the disk with the next write of
   * another kind, or by itself a tenth of a second later. Default false.
   */
  readonly canWait?: boolean;
}

/** A named set of rows; the type parameter says what its values are. */
export interface Table<T> {
  readonly name: string;
  /** Never present: ties the type to the name. */
  readonly row?: T;
}

export interface KeyRange {
  readonly from: string;
  readonly to: string;
  /** Leaves out `from` itself. */
  readonly after?: boolean;
}

/** One row put or, without a value, removed. Made by `put` and `remove`. */
export interface Change {
  readonly table: string;
  readonly key: string;
  readonly value: unknown;
}

export function put<T>(table: Table<T>, key: string, value: T): Change {
  return { table: table.name, key, value };
}

export function remove(table: Table<unknown>, key: string): Change {
  return { table: table.name, key, value: undefined };
}
