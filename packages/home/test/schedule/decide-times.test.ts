import { describe, expect, test } from 'vitest';
import { type DecisionInput, decideTimes, MAX_WAITING } from '../../src/schedule/decide-times.ts';
import { createPlannedTimes } from '../../src/schedule/planned-times.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Twelve o'clock; the schedule is hourly. */
const NOON = Date.UTC(2026, 5, 1, 12);
const hourly = createPlannedTimes({ cron: ['0 * * * *'], timezone: 'UTC' });

function decide(
  schedule: Partial<DecisionInput['schedule']>,
  given: { now?: number; considered?: number; open?: number } = {},
) {
  const { decided, missed } = decideTimes({
    schedule: { overlap: 'skip', catchup: 'none', ...schedule },
    times: hourly,
    now: given.now ?? NOON,
    considered: given.considered ?? NOON - HOUR_MS,
    open: given.open ?? 0,
  });
  const hour = (time: number) => new Date(time).getUTCHours();
  return {
    start: decided.filter(({ skip }) => skip === undefined).map(({ planned }) => hour(planned)),
    skip: decided.filter(({ skip }) => skip !== undefined).map(({ planned }) => hour(planned)),
    missed: missed && [hour(missed.first), hour(missed.last)],
  };
}

describe('decideTimes', () => {
  test('starts what is due, and nothing before it is', () => {
    expect(decide({}, { now: NOON })).toEqual({ start: [12], skip: [], missed: undefined });
    expect(decide({}, { now: NOON - 1 })).toEqual({ start: [], skip: [], missed: undefined });
    expect(decide({}, { now: NOON, considered: NOON })).toEqual({ start: [], skip: [], missed: undefined });
  });

  test('catchup decides about times that passed while no process watched', () => {
    const away = { now: NOON + 30 * MINUTE_MS, considered: NOON - 4 * HOUR_MS };
    expect(decide({ catchup: 'none' }, away)).toEqual({ start: [], skip: [], missed: [9, 12] });
    expect(decide({ catchup: 'latest' }, away)).toEqual({ start: [12], skip: [], missed: [9, 11] });
    expect(decide({ catchup: 'all' }, away)).toEqual({ start: [9, 10, 11, 12], skip: [], missed: undefined });
  });

  test('catchup none still starts what is a moment late', () => {
    expect(decide({}, { now: NOON + 59_000 }).start).toEqual([12]);
    expect(decide({}, { now: NOON + 61_000 })).toEqual({ start: [], skip: [], missed: [12, 12] });
  });

  test('the starting deadline bounds how late a run may start, whatever catchup says', () => {
    const away = { now: NOON + 30 * MINUTE_MS, considered: NOON - 4 * HOUR_MS };
    const startingDeadlineMs = 2 * HOUR_MS;
    expect(decide({ catchup: 'none', startingDeadlineMs }, away)).toMatchObject({ start: [12], missed: [9, 11] });
    expect(decide({ catchup: 'all', startingDeadlineMs }, away)).toMatchObject({ start: [11, 12], missed: [9, 10] });
    expect(decide({ catchup: 'latest', startingDeadlineMs: MINUTE_MS }, away)).toMatchObject({ start: [] });
  });

  test('overlap skip leaves out what comes on time while a run is open, not what is caught up', () => {
    expect(decide({}, { open: 1 })).toEqual({ start: [], skip: [12], missed: undefined });
    expect(decide({ catchup: 'all' }, { open: 1, considered: NOON - 3 * HOUR_MS })).toEqual({
      start: [10, 11],
      skip: [12],
      missed: undefined,
    });
    for (const overlap of ['allow', 'queue', 'replace'] as const) {
      expect(decide({ overlap }, { open: 1 }).start).toEqual([12]);
    }
  });

  test('overlap replace catches up with the newest only', () => {
    const away = { considered: NOON - 3 * HOUR_MS };
    expect(decide({ catchup: 'all', overlap: 'replace' }, away)).toMatchObject({ start: [12], missed: [10, 11] });
  });

  test('bounds what an outage brings back and what waits', () => {
    const year = decideTimes({
      schedule: { overlap: 'queue', catchup: 'all' },
      times: hourly,
      now: NOON,
      considered: NOON - 365 * 24 * HOUR_MS,
      open: 0,
    });
    expect(year.decided).toHaveLength(MAX_WAITING);
    expect(year.decided.at(-1)).toEqual({ planned: NOON });
    expect(year.missed?.last).toBe(NOON - MAX_WAITING * HOUR_MS);
    expect(decide({ overlap: 'queue' }, { open: MAX_WAITING }).skip).toEqual([12]);
  });
});
