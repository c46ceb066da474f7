/** Why a journal takes no more records. */
export type JournalFailureCode =
  | 'DISK_FULL'
  /** Another runner has opened the journal since. */
  | 'SUPERSEDED'
  /** What is durable is unknown from here on, so nothing is tried again. */
  | 'SYNC_FAILED'
  | 'WRITE_FAILED';

/** Thrown by every commit from the first failure on. */
export class JournalFailure extends Error {
  override readonly name = 'JournalFailure';
  readonly code: JournalFailureCode;

  constructor(code: JournalFailureCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
