/** `same`: equal, as precisely as both are written. `near`: possibly the same time. `far`: different times. */
export type TimeComparison = 'same' | 'near' | 'far';

/** The clocks of one service differ, and some services compute times again for each reply. */
const TOLERANCE_MS = 5 * 60_000;
/** The largest offset of a time zone from UTC; every offset is a multiple of 15 minutes. */
const FURTHEST_ZONE_MS = 14 * 3_600_000 + TOLERANCE_MS;
const QUARTER_MS = 15 * 60_000;

/**
 * Compares a container's `createTime` in two replies. Services round it, omit the time zone, or use different clocks:
 * equal times prove little, and only differences that none of these explain are `far`. Missing or unreadable times
 * count as no difference.
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

/** A time as a service writes it. */
export interface ServiceTime {
  /** Read as UTC if no zone is written; NaN if unreadable. */
  readonly at: number;
  readonly hasZone: boolean;
  /** The precision: equal texts may represent times that differ by less than this. */
  readonly unitMs: number;
}

/** Reads a time of a service, with or without a time zone. */
export function parseTime(text: string): ServiceTime {
  const hasZone = /(?:[zZ]|[+-]\d\d:?\d\d)$/.test(text);
  const seconds = /:\d\d:\d\d(\.\d)?/.exec(text);
  const unitMs = seconds === null ? 60_000 : seconds[1] === undefined ? 1000 : 2;
  return { at: Date.parse(hasZone ? text : `${text}Z`), hasZone, unitMs };
}
