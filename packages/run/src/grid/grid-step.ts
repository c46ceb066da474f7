/** A step with `each`, as a grid reads it. */
export interface GridStep {
  /** Index in the plan. */
  readonly step: number;
  readonly each: readonly string[];
  /** Those of `each`, and those that they imply. */
  readonly axes: readonly string[];
  /** The numbers of its cells that are known, in the order of the items. */
  readonly cells: readonly number[];
  nameOf(cell: number): string;
  /** The key of a cell's item; undefined if it has none. */
  keyOf(cell: number, axis: string): string | undefined;
}
