import type { Change } from './store.ts';

interface Group {
  readonly changes: readonly Change[];
  readonly isRevocable: boolean;
}

/** Written rows that are not yet on disk. Later changes of a key replace earlier ones. */
export class UnflushedRows {
  /** From table name to key to value; undefined if the row is removed. */
  #tables = new Map<string, Map<string, unknown>>();
  #groups: Group[] = [];

  get isEmpty(): boolean {
    return this.#tables.size === 0;
  }

  /** The unflushed rows of a table by key. */
  of(table: string): ReadonlyMap<string, unknown> | undefined {
    return this.#tables.get(table);
  }

  rows(): Iterable<readonly [table: string, rows: ReadonlyMap<string, unknown>]> {
    return this.#tables;
  }

  /** The approximate size of the rows. As expensive as writing them. */
  estimateBytes(): number {
    let bytes = 0;
    for (const [, rows] of this.#tables) {
      for (const [key, value] of rows) bytes += key.length + (JSON.stringify(value)?.length ?? 0);
    }
    return bytes;
  }

  /** `isRevocable` marks changes whose caller waits for the outcome and can retry. */
  add(changes: readonly Change[], { isRevocable }: { isRevocable: boolean }): void {
    this.#groups.push({ changes, isRevocable });
    this.#apply(changes);
  }

  /**
   * Drops all revocable changes. A key that was written several times gets its last value that is not revocable. Returns
   * whether any change was dropped.
   */
  revoke(): boolean {
    const kept = this.#groups.filter(({ isRevocable }) => !isRevocable);
    const dropped = this.#groups.length - kept.length;
    if (dropped > 0) this.#replace(kept);
    return dropped > 0;
  }

  /** Returns these rows and those of `later`, which take precedence. */
  with(later: UnflushedRows): UnflushedRows {
    const all = new UnflushedRows();
    all.#replace([...this.#groups, ...later.#groups]);
    return all;
  }

  #replace(groups: Group[]): void {
    this.#groups = groups;
    this.#tables = new Map();
    for (const { changes } of groups) this.#apply(changes);
  }

  #apply(changes: readonly Change[]): void {
    for (const { table, key, value } of changes) {
      let rows = this.#tables.get(table);
      if (rows === undefined) {
        rows = new Map();
        this.#tables.set(table, rows);
      }
      rows.set(key, value);
    }
  }
}
