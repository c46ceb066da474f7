import { expect, test } from 'vitest';
import {
  addMonths,
  countOutcomes,
  groupByDay,
  listWeeks,
  localTime,
  mergeTimes,
  type PlannedTime,
} from '../../src/model/planned-days.ts';

test('a month has whole weeks from Monday', () => {
  const weeks = listWeeks('2026-02');
  expect(weeks).toHaveLength(5);
  expect(weeks[0]).toEqual(['26', '27', '28', '29', '30', '31'].map((day) => `2026-01-${day}`).concat('2026-02-01'));
  expect(weeks.at(-1)!.at(-1)).toBe('2026-03-01');
  expect(listWeeks('2027-02')).toHaveLength(4);
});

test('months continue in the next year', () => {
  expect([addMonths('2026-12', 1), addMonths('2026-01', -1)]).toEqual(['2027-01', '2025-12']);
});

test('days are those of the schedule, also when clocks are set', () => {
  const times = ['2026-03-28T23:30:00.000Z', '2026-03-29T00:30:00.000Z', '2026-03-29T22:30:00.000Z'].map(
    (plannedAt): PlannedTime => ({ plannedAt, status: 'missed' }),
  );
  const days = groupByDay(times, 'Europe/Berlin', '2026-03');
  expect([...days].map(([date, found]) => [date, found.length])).toEqual([
    ['2026-03-29', 2],
    ['2026-03-30', 1],
  ]);
  expect(localTime(times[1]!.plannedAt, 'Europe/Berlin')).toBe('2026-03-29 01:30');
  expect(groupByDay(times, 'Europe/Berlin', '2026-04').size).toBe(0);
});

test('counts what became of planned times, problems first', () => {
  const plannedAt = '2026-01-01T00:00:00.000Z';
  const started = { plannedAt, status: 'started', runId: 'a' } as const;
  expect(
    countOutcomes([
      { ...started, runStatus: 'succeeded' },
      { plannedAt, status: 'planned' },
      { ...started, runStatus: 'succeeded' },
      { ...started },
      { ...started, runStatus: 'failed' },
    ]),
  ).toEqual([
    { outcome: 'failed', count: 1 },
    { outcome: 'waiting', count: 1 },
    { outcome: 'succeeded', count: 2 },
    { outcome: 'planned', count: 1 },
  ]);
});

test('several lists are one, in order and without repeats', () => {
  const at = (hour: string, status: PlannedTime['status'] = 'missed'): PlannedTime => ({
    plannedAt: `2026-01-01T${hour}:00:00.000Z`,
    status,
  });
  expect(mergeTimes([[at('01'), at('03')], [at('03', 'started'), at('09')], [at('02')]])).toEqual([
    at('01'),
    at('02'),
    at('03', 'started'),
    at('09'),
  ]);
});
