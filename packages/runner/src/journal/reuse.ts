/** What a run takes over from an earlier one of its pipeline. */
export interface Reuse {
  readonly runId: string;
  /** Steps that run anew although nothing about them has changed, and with them all that depends on them. */
  readonly again: readonly string[];
}
