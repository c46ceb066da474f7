/** A directory that `publish` names, and that a run has left as it was since it did not make the output. */
export interface KeptResult {
  readonly directory: string;
  /** The run whose result it has. */
  readonly runId: string;
  /** When that was delivered, ISO 8601. */
  readonly deliveredAt: string;
}
