import type { JournalRecord } from '../records/journal-record.ts';
import { describeRecord, subjectOf } from '../report/describe-record.ts';

/** Where a record is in the journal, in bytes. */
export interface RecordPlace {
  readonly start: number;
  readonly length: number;
}

/**
 * Where the records are that tell the history of each cell: 20 bytes for each. So the history of one cell of a large run is
 * read without reading the whole journal again.
 */
export interface RecordPlaces {
  /** Those about a cell or its step, oldest first. */
  of(step: number, cell: number): RecordPlace[];
}

/** `RecordPlaces` that its owner extends. */
export interface WritableRecordPlaces extends RecordPlaces {
  add(record: JournalRecord, place: RecordPlace): void;
}

/** Stands for all cells of a step. */
const ALL = 0xffff_ffff;

/** No places. */
export function createRecordPlaces(): WritableRecordPlaces {
  let starts = new Float64Array(64);
  /** Length, step and cell of each. */
  let others = new Uint32Array(3 * 64);
  let count = 0;

  function grow(): void {
    const [longerStarts, longerOthers] = [new Float64Array(2 * count), new Uint32Array(6 * count)];
    longerStarts.set(starts);
    longerOthers.set(others);
    starts = longerStarts;
    others = longerOthers;
  }

  return {
    of(step, cell) {
      const found: RecordPlace[] = [];
      for (let index = 0; index < count; index++) {
        if (others[3 * index + 1] !== step) continue;
        const about = others[3 * index + 2];
        if (about === cell || about === ALL) found.push({ start: starts[index]!, length: others[3 * index]! });
      }
      return found;
    },
    add(record, { start, length }) {
      const subject = subjectOf(record);
      if (subject === undefined || describeRecord(record) === undefined) return;
      if (count === starts.length) grow();
      starts[count] = start;
      others.set([length, subject.step, subject.cell ?? ALL], 3 * count);
      count++;
    },
  };
}
