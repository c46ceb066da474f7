import type { JournalRecord } from './journal-record.ts';

/** The content of a line without its checksum. */
export interface JournalLine {
  /** From 1, without gaps. */
  readonly seq: number;
  /** When this line was written, all lines before this one were known to be durable. */
  readonly first: number;
  /** The opening of the journal that wrote it. Lines of an older epoch after one of a newer epoch are ignored. */
  readonly epoch: number;
  readonly record: JournalRecord;
}

/** A valid line with its place in the file. */
export interface ReadLine {
  /** From 1. If it is not higher than that of the line before, this and all later records so far are void. */
  readonly seq: number;
  readonly epoch: number;
  readonly record: JournalRecord;
  /** Where the line begins, in bytes from the beginning of the journal. */
  readonly start: number;
  /** In bytes, without its line feed. */
  readonly length: number;
}
