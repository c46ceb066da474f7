/** Which attempt a container belongs to. */
export interface AttemptName {
  readonly runId: string;
  readonly step: string;
  /** Key of the cell, `''` for a plain step. */
  readonly cell: string;
  /** From 1. */
  readonly attempt: number;
}
