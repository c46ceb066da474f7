import type { RunDetails } from '@sluice/host';

/** A time in which no process may have executed the run, in milliseconds. */
export interface Gap {
  readonly from: number;
  readonly to: number;
}

/** A shorter one cannot be seen, and changes nothing. */
const MIN_GAP_MS = 1_000;

/** The gaps of a run after its start: from the last record of one process to the first one of the next. */
export function findGaps(resumes: RunDetails['resumes'], startedAt: number): readonly Gap[] {
  return resumes
    .map(({ at, lastRecordAt }) => ({ from: Math.max(startedAt, Date.parse(lastRecordAt)), to: Date.parse(at) }))
    .filter(({ from, to }) => to - from >= MIN_GAP_MS);
}
