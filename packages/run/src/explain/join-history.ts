import type { JournalLine } from '../records/journal-line.ts';
import { attemptOf, describeRecord, timeOf } from '../report/describe-record.ts';
import type { HistoryLine } from '../schemas/explanation.ts';
import { SHOWN_STATUSES } from '../schemas/statuses.ts';
import type { CellMove } from '../view/move-log.ts';

type Line = Pick<HistoryLine, 'at' | 'status' | 'reused' | 'attempt' | 'message'>;

/** The history of a cell from its moves and the lines of the journal about it, both oldest first. */
export function joinHistory(moves: readonly CellMove[], lines: readonly JournalLine[]): Line[] {
  const found: (Line & { readonly position: number })[] = moves.map(({ position, at, status, attempt }) => {
    const { status: word, reused } = SHOWN_STATUSES[status]!;
    return { position, at, attempt, status: word, ...(reused && { reused }) };
  });
  for (const { seq, record } of lines) {
    const message = describeRecord(record);
    if (message === undefined) continue;
    const index = found.findIndex(({ position }) => position >= seq);
    const moved = index === -1 ? undefined : found[index];
    // It belongs to the first move that the record caused; the others follow from it. The end of an attempt may begin the next.
    if (moved?.position === seq) found[index] = { ...moved, attempt: attemptOf(record) || moved.attempt, message };
    else {
      const place = index === -1 ? found.length : index;
      const at = timeOf(record) ?? found[place - 1]?.at ?? 0;
      found.splice(place, 0, { position: seq, at, attempt: attemptOf(record), message });
    }
  }
  return found.map(({ position: _, ...line }) => line);
}
