import type { Change } from './store.ts';

interface Group {
  readonly changes: readonly Change[];
  readonly isRevocable: boolean;
}

/** Rows that were written and are not yet on the disk, in the order written. */
export class UnflushedRows {
  /** Table name to key to value, undefined where removed. */
  #tables = new Map<string, Map<string, unknown>>();
  #groups: Group[] = [];

  get isEmpty(): boolean {
    return this.#tables.size === 0;
  }

  /** What a table's rows are to become. */
  of(table: string): ReadonlyMap<string, unknown> | undefined {
    return this.#tables.get(table);
  }

  rows(): Iterable<readonly [table: string, rows: ReadonlyMap<string, unknown>]> {
    return this.#tables;
  }

  /** About so much is to be written; as expensive as writing it. */
  estimateBytes(): number {
    let bytes = 0;
    for (const [, rows] of this.#tables) {
      for (const [key, value] of rows) bytes += key.length + (JSON.stringify(value)?.length ?? 0);
    }
    return bytes;
  }

  /** `isRevocable` marks what its caller is told the fate of, and can ask for again. */
  add(changes: readonly Change[], { isRevocable }: { isRevocable: boolean }): void {
    this.#groups.push({ changes, isRevocable });
    this.#lay(changes);
  }

  /**
   * Drops what is revocable, as if it had never been written: of a key that was written several times the last value
   * that stays counts. Says whether there was anything of the kind.
   */
  revoke(): boolean {
    const kept = this.#groups.filter(({ isRevocable }) => !isRevocable);
    const dropped = this.#groups.length - kept.length;
    if (dropped > 0) this.#replace(kept);
    return dropped > 0;
  }

  /** These with `later` laid over them. */
  with(later: UnflushedRows): UnflushedRows {
    const all = new UnflushedRows();
    all.#replace([...this.#groups, ...later.#groups]);
    return all;
  }

  #replace(groups: Group[]): void {
    this.#groups = groups;
    this.#tables = new Map();
    for (const { changes } of groups) this.#lay(changes);
  }

  #lay(changes: readonly Change[]): void {
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
