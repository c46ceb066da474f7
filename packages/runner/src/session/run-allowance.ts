/** What one run may use, in addition to what limits every run. */
export interface RunAllowance {
  /** Cells of all steps together. Called for each `foreach`, since a configuration may change. */
  readonly maxCells: () => number;
  /** Bytes of the results of all cells together, which are held in memory. */
  readonly maxResultBytes: number;
}
