import { own } from '../model/own.ts';

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** A hundred years. Longer durations mean never, and would exceed the range of dates. */
const LONGEST = 100 * 365 * 86_400_000;

/** Milliseconds of a text that matches `DURATION`, rounded, at most a hundred years. */
export function parseDuration(text: string): number {
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d|w)/g)) {
    total += Number(amount) * (own(UNITS, unit ?? '') ?? 0);
  }
  return Math.min(Math.round(total), LONGEST);
}
