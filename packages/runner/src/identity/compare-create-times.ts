/** `same`: one moment, as exactly as both are written. `near`: it can be one moment. `far`: it cannot. */
export type TimeComparison = 'same' | 'near' | 'far';

/** Clocks of one service differ, and some services work a time out anew for each reply. */
const TOLERANCE_MS = 5 * 60_000;
/** No time zone is further from UTC, and each is a whole number of quarters of an hour from it. */
const FURTHEST_ZONE_MS = 14 * 3_600_000 + TOLERANCE_MS;
const QUARTER_MS = 15 * 60_000;

/**
 * Compares a container's `createTime` in two replies. Services round it, leave the time zone out, or write it by another
 * clock: equal times prove little, and only times that no such habit explains are `far`. What a reply leaves out, or
 * what cannot be read, is no difference.
 */
export function compareCreateTimes(first: string | undefined, seen: string | undefined): TimeComparison {
  if (!first || !seen || first === seen) return 'same';
  const [a, b] = [parseTime(first), parseTime(seen)];
  if (Number.isNaN(a.at) || Number.isNaN(b.at)) return 'near';
  const apart = Math.abs(a.at - b.at);
  if (a.hasZone === b.hasZone) {
    if (apart < Math.max(a.unitMs, b.unitMs)) return 'same';
    return apart <= TOLERANCE_MS ? 'near' : 'far';
  }
  const beside = apart % QUARTER_MS;
  const isZone = Math.min(beside, QUARTER_MS - beside) <= TOLERANCE_MS && apart <= FURTHEST_ZONE_MS;
  return isZone ? 'near' : 'far';
}

interface ParsedTime {
  /** Read as UTC where no zone is written; NaN where it cannot be read. */
  readonly at: number;
  readonly hasZone: boolean;
  /** Times that are written alike differ by less than that. */
  readonly unitMs: number;
}

function parseTime(text: string): ParsedTime {
  const hasZone = /(?:[zZ]|[+-]\d\d:?\d\d)$/.test(text);
  const seconds = /:\d\d:\d\d(\.\d)?/.exec(text);
  const unitMs = seconds === null ? 60_000 : seconds[1] === undefined ? 1000 : 2;
  return { at: Date.parse(hasZone ? text : `${text}Z`), hasZone, unitMs };
}
