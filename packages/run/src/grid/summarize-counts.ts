import { SHOWN_STATUSES } from '../schemas/statuses.ts';

/** The state that stands for many cells: the first of these that any of them has. */
const ORDER: readonly number[] = Array.from('farupbqwcsek', (letter) =>
  SHOWN_STATUSES.findIndex((shown) => shown.letter === letter),
);

const [WAITING, READY, RUNNING] = (['waiting', 'ready', 'running'] as const).map((status) =>
  SHOWN_STATUSES.findIndex((shown) => shown.status === status),
) as [number, number, number];

/** The code, an index into `SHOWN_STATUSES`, that stands for cells with these numbers by code; `waiting` without cells. */
export function summarizeCounts(counts: ArrayLike<number>): number {
  const found = ORDER.find((code) => counts[code]! > 0) ?? WAITING;
  if (found !== WAITING && found !== READY) return found;
  // Of several cells of which some have ended and others have not begun, the whole is in progress.
  return SHOWN_STATUSES.some(({ hasEnded }, code) => hasEnded && counts[code]! > 0) ? RUNNING : found;
}
