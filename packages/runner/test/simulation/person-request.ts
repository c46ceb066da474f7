/** A request of a user to the process that executes a run. */
export interface PersonRequest {
  readonly verb: 'cancel' | 'suspend' | 'approve' | 'reject';
  readonly afterMs: number;
  /** How long the process that receives it is stopped. */
  readonly stoppedMs: number;
  /** It is received, and its reply is lost. */
  readonly losesReply?: boolean;
}
