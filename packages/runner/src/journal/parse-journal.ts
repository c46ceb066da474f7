import { fail, ok, type Result } from '@sluice/core';
import { decodeLine, type JournalLine, PREFIX } from './journal-line.ts';
import type { JournalRecord } from './journal-record.ts';

/** The newest format that this version can read, and the one that it writes. */
const FORMAT = 1;

/** A journal without the incomplete lines at its end. */
export interface JournalContent {
  readonly records: readonly JournalRecord[];
  /** Sequence number of the last record, 0 for an empty journal. */
  readonly seq: number;
  /** The highest epoch of a record; 0 for an empty journal. */
  readonly epoch: number;
  /** Bytes of the complete lines. What follows was torn by a crash before it was durable. */
  readonly size: number;
}

/**
 * Reads a journal from its bytes. A crash can tear only lines that were written together and never acknowledged; they
 * are omitted. If a line is damaged that was durable (a later line proves this), the whole journal is rejected.
 */
export function parseJournal(bytes: Uint8Array): Result<JournalContent, string> {
  const records: JournalRecord[] = [];
  let epoch = 0;
  let size = 0;
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(10, start);
    const line = end < 0 ? undefined : decodeLine(bytes.subarray(start, end));
    if (!line || !fits(line, { count: records.length, epoch })) {
      const proof = findLater(bytes, start + 1, records.length + 1);
      if (proof !== undefined) return fail(describeDamage(start, records.length + 1, proof));
      break;
    }
    start = end + 1;
    size = start;
    if (line.epoch < epoch) continue;
    if (line.epoch > epoch) {
      // Lines that an older runner wrote after the newer one had read the journal are void.
      epoch = line.epoch;
      records.length = line.seq - 1;
    }
    const format: number = line.record.kind === 'run' ? line.record.format : FORMAT;
    if (format > FORMAT)
      return fail(`it was written by a newer version of sluice (format ${format}, and this one knows ${FORMAT})`);
    records.push(line.record);
  }
  return ok({ records, seq: records.length, epoch, size });
}

function fits(line: JournalLine, read: { count: number; epoch: number }): boolean {
  if (line.epoch < read.epoch) return true;
  if (line.epoch > read.epoch) return line.seq >= 1 && line.seq <= read.count + 1;
  return line.seq === read.count + 1;
}

/**
 * The number of a later line which proves that record `seq` was durable before. Searches for the beginnings of lines,
 * since the damage may include a line feed.
 */
function findLater(bytes: Uint8Array, from: number, seq: number): number | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let start = text.indexOf(PREFIX, from); start >= 0; start = text.indexOf(PREFIX, start + 1)) {
    const end = bytes.indexOf(10, start);
    const line = end < 0 ? undefined : decodeLine(bytes.subarray(start, end));
    if (line && line.first > seq) return line.seq;
  }
  return undefined;
}

function describeDamage(offset: number, seq: number, proof: number): string {
  return `record ${seq} at byte ${offset} is damaged, although record ${proof} after it shows that it was whole; sluice adopt rebuilds the run from its containers`;
}
