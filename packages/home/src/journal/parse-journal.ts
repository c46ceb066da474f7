import { fail, ok, type Result } from '@sluice/core';
import { describeOtherFormat, type JournalLine, type JournalRecord, type ReadLine } from '@sluice/run';
import { decodeLine, PREFIX } from './line-codec.ts';

/** The only format that this version reads, and the one that it writes. */
const FORMAT: Extract<JournalRecord, { kind: 'run' }>['format'] = 2;

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

/** Reads a journal piece by piece. */
export interface JournalReader {
  /** Bytes of the complete lines so far: where the next piece begins. */
  readonly size: number;
  /** The bytes of the last complete line, with its line feed. */
  readonly lastLine: Uint8Array;
  /**
   * Passes the complete lines of `bytes`, which begin at `size`, to `onLine`, except void ones. The bytes of an incomplete
   * line at their end belong to the next piece. The error describes damage.
   */
  read(bytes: Uint8Array, onLine: (line: ReadLine) => void): Result<void, string>;
}

/**
 * A reader at the beginning of a journal. A crash can tear only lines that were written together and never acknowledged;
 * they are omitted. If a line is damaged that was durable (a later line proves this), the whole journal is rejected.
 */
export function createJournalReader(): JournalReader {
  const read = { count: 0, epoch: 0 };
  let size = 0;
  let lastLine: Uint8Array = new Uint8Array();
  return {
    get size() {
      return size;
    },
    get lastLine() {
      return lastLine;
    },
    read(bytes, onLine) {
      const base = size;
      let lastStart = 0;
      for (let start = 0; start < bytes.length; start = size - base) {
        const end = bytes.indexOf(10, start);
        const line = end < 0 ? undefined : decodeLine(bytes.subarray(start, end));
        if (!line || !fits(line, read)) {
          const proof = findLater(bytes, start + 1, read.count + 1);
          if (proof !== undefined) return fail(describeDamage(base + start, read.count + 1, proof));
          break;
        }
        lastStart = start;
        size = base + end + 1;
        if (line.epoch < read.epoch) continue;
        const { seq, epoch, record } = line;
        const fault = findRecordFault(record);
        if (fault !== undefined) return fail(fault);
        // Lines that an older runner wrote after the newer one had read the journal are void.
        read.count = seq;
        read.epoch = epoch;
        onLine({ seq, epoch, record, start: base + start, length: end - start });
      }
      if (size > base) lastLine = bytes.slice(lastStart, size - base);
      return ok(undefined);
    },
  };
}

/** Reads a whole journal from its bytes; see `createJournalReader`. */
export function parseJournal(bytes: Uint8Array): Result<JournalContent, string> {
  const records: JournalRecord[] = [];
  const reader = createJournalReader();
  let epoch = 0;
  const read = reader.read(bytes, (line) => {
    if (line.seq <= records.length) records.length = line.seq - 1;
    records.push(line.record);
    epoch = line.epoch;
  });
  return read.ok ? ok({ records, seq: records.length, epoch, size: reader.size }) : read;
}

/**
 * Why a journal of another version cannot be read, even if it is damaged, too; undefined if it is one of this version, or if
 * its first record is lost.
 */
export function findFormatFault(bytes: Uint8Array): string | undefined {
  for (let start = 0, end = bytes.indexOf(10); end >= 0; start = end + 1, end = bytes.indexOf(10, start)) {
    const record = decodeLine(bytes.subarray(start, end))?.record;
    if (record?.kind === 'run') return findRecordFault(record);
  }
  return undefined;
}

function findRecordFault(record: JournalRecord): string | undefined {
  if (record.kind !== 'run') return undefined;
  const format: unknown = record.format;
  // A list would be turned into text, which exhausts the stack if it is deep.
  return typeof format === 'number' ? describeOtherFormat(format, FORMAT) : 'its first record has no format';
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
