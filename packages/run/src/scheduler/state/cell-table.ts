/** The state of each cell, as arrays that grow when a `foreach` is decided. */
export interface CellTable {
  // Written by cell-table.ts.
  readonly size: number;
  // Written by move-cell.ts.
  state: Uint8Array;
  /** `CELL` flags. */
  flags: Uint8Array;
  // Written by cancel-reason.ts.
  /** Index into the reasons for canceling the current attempt, from 1; 0 if no cancellation was requested. */
  cancel: Uint8Array;
  // Written by attempt-flow.ts.
  /** The current or next attempt, from 1. */
  attempt: Uint16Array;
  /** Retries that counted against `limit` and `infrastructure`. */
  retries: Uint16Array;
  infrastructureRetries: Uint16Array;
  escalationLevel: Int8Array;
  /** The state in which the latest failed attempt would have ended the cell; 0 for none. */
  lastFailure: Uint8Array;
  // A method.
  /** Adds cells in the given state; returns the first one's number. */
  add(count: number): number;
  /** Copies cells to a place that was added. */
  move(from: number, place: { readonly to: number; readonly count: number }): void;
}

/** The bits of `CellTable.flags`. */
export const CELL = {
  /** Has reached `running`, or readiness for a service. */
  ran: 1,
  /** Its deadline timer is set. */
  started: 2,
  /** A ready service whose end has not been requested. */
  serving: 4,
  /** Its deadline has passed: the current attempt is the last. */
  expired: 8,
} as const;

/** Creates an empty table with space for `capacity` cells before it first grows. */
export function createCellTable(capacity: number): CellTable {
  let size = 0;
  const table = {
    state: new Uint8Array(capacity),
    attempt: new Uint16Array(capacity).fill(1),
    retries: new Uint16Array(capacity),
    infrastructureRetries: new Uint16Array(capacity),
    escalationLevel: new Int8Array(capacity).fill(-1),
    cancel: new Uint8Array(capacity),
    flags: new Uint8Array(capacity),
    lastFailure: new Uint8Array(capacity),
    get size() {
      return size;
    },
    add(count: number): number {
      const first = size;
      size += count;
      if (size > table.state.length) grow(Math.max(size, table.state.length * 2));
      return first;
    },
    move(from: number, { to, count }: { readonly to: number; readonly count: number }): void {
      for (const row of [table.state, table.attempt, table.retries, table.infrastructureRetries])
        row.copyWithin(to, from, from + count);
      for (const row of [table.escalationLevel, table.cancel, table.flags, table.lastFailure])
        row.copyWithin(to, from, from + count);
    },
  };

  function grow(to: number): void {
    const from = table.state.length;
    table.state = resized(table.state, new Uint8Array(to));
    table.attempt = resized(table.attempt, new Uint16Array(to)).fill(1, from);
    table.retries = resized(table.retries, new Uint16Array(to));
    table.infrastructureRetries = resized(table.infrastructureRetries, new Uint16Array(to));
    table.escalationLevel = resized(table.escalationLevel, new Int8Array(to)).fill(-1, from);
    table.cancel = resized(table.cancel, new Uint8Array(to));
    table.flags = resized(table.flags, new Uint8Array(to));
    table.lastFailure = resized(table.lastFailure, new Uint8Array(to));
  }

  return table;
}

/** The larger array with the values of the smaller one. */
export function resized<T extends { set(from: ArrayLike<number>): void }>(from: ArrayLike<number>, to: T): T {
  to.set(from);
  return to;
}
