/** The earlier run of the same pipeline whose results a run reuses. */
export interface Reuse {
  readonly runId: string;
  /** `STEP` or `STEP/CELL`: what is rerun although it has not changed; its dependents are rerun, too. */
  readonly from: readonly string[];
}
