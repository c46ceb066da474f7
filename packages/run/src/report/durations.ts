import type { CellFacts } from '../facts/run-facts.ts';
import { omitUnknown } from './omit-unknown.ts';

/** When a cell, or all cells of a step, began and ended. In milliseconds since the Unix epoch. */
export interface Span {
  /** When the first attempt began to run. */
  readonly beganAt?: number;
  /** When the last attempt ended. */
  readonly endedAt?: number;
}

interface Durations {
  readonly queuedMs?: number;
  readonly ranMs?: number;
}

/**
 * How long an attempt was queued (from the request for its container until this ran), and how long it ran. Absent where
 * the service has not reported the start, or it has not come so far.
 */
export function measureAttempt(attempt: {
  readonly requestedAt?: number | undefined;
  readonly submittedAt?: number | undefined;
  readonly runningAt?: number | undefined;
  readonly endedAt?: number | undefined;
}): Durations {
  const { submittedAt, requestedAt = submittedAt, runningAt, endedAt } = attempt;
  return omitUnknown<Durations>({ queuedMs: between(requestedAt, runningAt), ranMs: between(runningAt, endedAt) });
}

/** The span of a cell, with its retries and the pauses between them. */
export function spanOfCell(known: CellFacts | undefined): Span {
  const attempts = known?.attempts ?? [];
  return omitUnknown<Span>({
    beganAt: attempts.find(({ runningAt }) => runningAt !== undefined)?.runningAt,
    endedAt: attempts.at(-1)?.endedAt,
  });
}

/** The span of all cells of a step together; without an end until all that began have ended. */
export function spanOfAll(cells: Iterable<Span>): Span {
  let [began, ended, isOpen] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, false];
  for (const { beganAt, endedAt } of cells) {
    if (beganAt === undefined) continue;
    began = Math.min(began, beganAt);
    if (endedAt === undefined) isOpen = true;
    else ended = Math.max(ended, endedAt);
  }
  if (began === Number.POSITIVE_INFINITY) return {};
  return isOpen ? { beganAt: began } : { beganAt: began, endedAt: ended };
}

/** How long a cell or a step took: from the start of its first attempt to the end of its last. */
export function spanMs({ beganAt, endedAt }: Span): number | undefined {
  return between(beganAt, endedAt);
}

function between(from: number | undefined, to: number | undefined): number | undefined {
  return from === undefined || to === undefined ? undefined : Math.max(0, to - from);
}
