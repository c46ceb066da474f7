/** Why a journal accepts no more records. */
export type JournalFailureCode =
  | 'DISK_FULL'
  /** Another runner has opened the journal in the meantime, or the run was removed. */
  | 'SUPERSEDED'
  /** It is unknown which records are durable, so no write is repeated. */
  | 'SYNC_FAILED'
  | 'WRITE_FAILED';

/** Thrown by every commit from the first failure onward. */
export class JournalFailure extends Error {
  override readonly name = 'JournalFailure';
  readonly code: JournalFailureCode;

  constructor(code: JournalFailureCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
