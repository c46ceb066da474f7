/** The code of each `RunError`. */
export type RunErrorCode =
  | 'RUN_NOT_FOUND'
  | 'STEP_NOT_FOUND'
  /** The step exists, but has no such cell. */
  | 'CELL_NOT_FOUND'
  | 'RUN_FINISHED'
  /** The run to adopt has a journal, so nothing has to be rebuilt. */
  | 'RUN_KNOWN'
  /** The file, the home or the service lack what the run's containers were created from. */
  | 'NOT_ADOPTABLE'
  /** Another process executes the run; the message names its host and process ID. */
  | 'RUN_IN_USE'
  /** A server executes the run, or its order is open. */
  | 'RUN_HOSTED'
  | 'JOURNAL_DAMAGED'
  /** The run has started, but its journal lacks the first record. It can be adopted while the service knows its containers. */
  | 'JOURNAL_LOST'
  | 'HOME_UNUSABLE'
  | 'SECRET_MISSING'
  | 'SOURCE_MISSING'
  /** The local directory for an output contains something that must not be replaced. */
  | 'TARGET_REJECTED'
  | 'NO_INSTANCE_TYPE'
  | 'TOO_MANY_MOUNTS'
  | 'SERVICE_UNREACHABLE'
  | 'SERVICE_REJECTED'
  /** The service rejects the login: a token or password is wrong or has expired. */
  | 'LOGIN_REJECTED'
  /** Another run of the pipeline's concurrency group is in progress. */
  | 'GROUP_BUSY'
  /** The expression of the concurrency group cannot be evaluated. */
  | 'GROUP_INVALID'
  /** No step waits for this approval, or no process executes the run. */
  | 'NOT_ASKED';

/** Why a run could not be started, resumed or read. */
export interface RunError {
  readonly code: RunErrorCode;
  /** Says what could not be done, and why; names no command of the command line. */
  readonly message: string;
}

const TEMPORARY: ReadonlySet<RunError['code']> = new Set([
  'SERVICE_UNREACHABLE',
  'LOGIN_REJECTED',
  'GROUP_BUSY',
  'HOME_UNUSABLE',
]);

/** Whether the cause of a rejection may end by itself, so that the run can be tried again. */
export function isTemporary({ code }: Pick<RunError, 'code'>): boolean {
  return TEMPORARY.has(code);
}
