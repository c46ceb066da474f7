/** A step with `each`, as a grid reads it. Cells that become known during the run are added at the end. */
export interface GridStep {
  /** Index in the plan. */
  readonly step: number;
  readonly each: readonly string[];
  /** Those of `each`, and those that they imply. */
  readonly axes: readonly string[];
  readonly cellCount: number;
  nameOf(cell: number): string;
  /** The key of a cell's item; undefined if it has none. */
  keyOf(cell: number, axis: string): string | undefined;
}
