/** A directory named by `publish` that a run has left unchanged because it did not produce the output. */
export interface KeptResult {
  readonly directory: string;
  /** The run that wrote its content. */
  readonly runId: string;
  /** When that was delivered, ISO 8601. */
  readonly deliveredAt: string;
}
