/** Why a run could not be started, resumed or read. */
export interface RunRefusal {
  readonly code:
    | 'RUN_NOT_FOUND'
    | 'STEP_NOT_FOUND'
    | 'RUN_FINISHED'
    /** Its journal is there: nothing has to be rebuilt. */
    | 'RUN_KNOWN'
    /** The file, the home or the service do not have what the run's containers were made of. */
    | 'NOT_ADOPTABLE'
    /** Another runner drives it; the message names host and process. */
    | 'RUN_IN_USE'
    | 'JOURNAL_DAMAGED'
    /** It has begun, and its journal does not say what it is: it can be adopted while the service knows its containers. */
    | 'JOURNAL_LOST'
    | 'HOME_UNUSABLE'
    | 'SECRET_MISSING'
    | 'SOURCE_MISSING'
    /** A local directory for an output holds something that a delivery must not replace. */
    | 'TARGET_REFUSED'
    | 'NO_INSTANCE_TYPE'
    | 'TOO_MANY_MOUNTS'
    | 'SERVICE_UNREACHABLE'
    | 'SERVICE_REFUSED'
    /** The service does not accept the login: a token or password is wrong or has expired. */
    | 'LOGIN_REFUSED'
    /** The pipeline's concurrency group is taken. */
    | 'GROUP_BUSY'
    /** No step waits for that answer, or no runner is there to take it. */
    | 'NOT_ASKED';
  readonly message: string;
}
