const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Distances of ticks, which people count in. */
const STEPS: readonly number[] = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000].map((count) => count * DAY),
];
/** A label needs a fifth of the narrowest axis. */
const MAX_INTERVALS = 4;
/** Behind it, a label would not fit before the end of the axis. */
const LAST_PART = 0.9;

/** The round times on an axis of this length, in milliseconds from its start, so few that their labels do not overlap. */
export function roundTicks(span: number): readonly number[] {
  const step = STEPS.find((one) => span / one <= MAX_INTERVALS) ?? span;
  const ticks: number[] = [];
  for (let at = 0; at === 0 || at <= span * LAST_PART; at += step) ticks.push(at);
  return ticks;
}
