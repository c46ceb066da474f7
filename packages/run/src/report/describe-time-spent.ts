import { renderDuration } from '@sluice/core';
import { TIME_PARTS, type TimePart } from '../schemas/time-parts.ts';
import type { TimeSpent } from '../schemas/time-spent.ts';

/** A part of the time of a run for people. */
export interface TimeShare {
  readonly part: TimePart;
  readonly label: string;
  readonly meaning: string;
  readonly ms: number;
  /** Its duration, rounded so that the durations of all parts add up to that of the run. */
  readonly duration: string;
  /** Of the time of the run, such as `35%`, rounded so that all parts add up to 100%. */
  readonly percent: string;
}

/** In which step `renderDuration` rounds durations below a limit, in milliseconds. */
const ROUNDED = [
  { below: 99.5, to: 1 },
  { below: 9_950, to: 100 },
  { below: 3_599_500, to: 1_000 },
  { below: 86_370_000, to: 60_000 },
  { below: Number.POSITIVE_INFINITY, to: 3_600_000 },
] as const;

/** The parts of the time of a run that are not zero. `total`: their sum. */
export function describeTimeSpent(spent: TimeSpent): { readonly total: string; readonly parts: readonly TimeShare[] } {
  const { totalMs } = spent;
  const { to } = ROUNDED.find(({ below }) => totalMs < below)!;
  const all = (Object.keys(TIME_PARTS) as TimePart[])
    .map((part) => ({ part, ms: spent[`${part}Ms`] }))
    .filter(({ ms }) => ms > 0);
  const whole = Math.round(totalMs / to);
  const units = roundShares(
    all.map(({ ms }) => ms / to),
    whole,
  );
  const percents = roundShares(
    all.map(({ ms }) => (100 * ms) / totalMs),
    100,
  );
  const parts = all.map(({ part, ms }, index) => ({
    ...{ part, ms, ...TIME_PARTS[part] },
    duration: units[index] === 0 ? `under ${renderDuration(to)}` : renderDuration(units[index]! * to),
    percent: percents[index] === 0 ? '<1%' : `${percents[index]}%`,
  }));
  return { total: renderDuration(whole * to), parts };
}

/** Shares as whole numbers whose sum is `whole`: those with the largest remainders are rounded up. */
function roundShares(shares: readonly number[], whole: number): readonly number[] {
  const rounded = shares.map(Math.floor);
  const missing = whole - rounded.reduce((sum, count) => sum + count, 0);
  const remainder = (index: number) => shares[index]! - rounded[index]!;
  const byRemainder = shares.map((_, index) => index).sort((a, b) => remainder(b) - remainder(a));
  for (const index of byRemainder.slice(0, missing)) rounded[index]! += 1;
  return rounded;
}
