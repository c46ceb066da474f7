/** The earlier run of the same pipeline whose results a run reuses. */
export interface Reuse {
  readonly runId: string;
  /** Steps that are rerun although they have not changed; their dependents are rerun, too. */
  readonly from: readonly string[];
}
