import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createPlannedTimes, describeScheduleFault } from '../../src/schedule/planned-times.ts';

const EXPRESSIONS = new URL('../../../../../shared/data/pipelines/cron-expressions.tsv', import.meta.url);
const isThere = existsSync(EXPRESSIONS) || process.env.CI === 'true';
const HOUR_MS = 3_600_000;

const berlin = (...cron: string[]) => createPlannedTimes({ cron, timezone: 'Europe/Berlin' });

function list(times: { after(time: number): number | undefined }, from: string, count: number): string[] {
  const found: string[] = [];
  let at: number | undefined = Date.parse(from);
  while (found.length < count) {
    at = times.after(at);
    if (at === undefined) break;
    found.push(new Date(at).toISOString().slice(0, 16));
  }
  return found;
}

describe('createPlannedTimes', () => {
  test('keeps the wall clock of the time zone over the year', () => {
    const times = berlin('30 12 * * *');
    expect(list(times, '2026-01-15T00:00Z', 1)).toEqual(['2026-01-15T11:30']);
    expect(list(times, '2026-07-15T00:00Z', 1)).toEqual(['2026-07-15T10:30']);
  });

  test('runs a fixed time that falls into the gap at the end of the gap, on that day only', () => {
    expect(list(berlin('30 2 * * *'), '2026-03-28T00:00Z', 3)).toEqual([
      '2026-03-28T01:30',
      '2026-03-29T01:00',
      '2026-03-30T00:30',
    ]);
    expect(list(berlin('0 2,14 * * *'), '2026-03-28T20:00Z', 2)).toEqual(['2026-03-29T01:00', '2026-03-29T12:00']);
  });

  test('runs a fixed time that comes twice once, the first time', () => {
    expect(list(berlin('30 2 * * *'), '2026-10-24T12:00Z', 2)).toEqual(['2026-10-25T00:30', '2026-10-26T01:30']);
    expect(list(berlin('0 2,14 * * *'), '2026-10-24T20:00Z', 2)).toEqual(['2026-10-25T00:00', '2026-10-25T13:00']);
  });

  test('lets steps go by elapsed time through gap and overlap', () => {
    const halfHours = berlin('*/30 * * * *');
    for (const from of ['2026-03-29T00:00Z', '2026-10-25T00:00Z']) {
      const times = list(halfHours, from, 6).map((text) => Date.parse(`${text}Z`));
      expect(times.slice(1).map((time, index) => time - times[index]!)).toEqual(Array(5).fill(HOUR_MS / 2));
    }
    expect(list(berlin('*/30 2 * * *'), '2026-03-28T12:00Z', 1)).toEqual(['2026-03-30T00:00']);
  });

  test('merges several expressions and gives a time that two of them name once', () => {
    expect(list(berlin('0 6 * * *', '0 6,18 * * *'), '2026-06-01T00:00Z', 3)).toEqual([
      '2026-06-01T04:00',
      '2026-06-01T16:00',
      '2026-06-02T04:00',
    ]);
  });

  test('upTo takes in the time itself, after leaves it out', () => {
    const times = createPlannedTimes({ cron: ['0 0 * * *'], timezone: 'UTC' });
    const midnight = Date.UTC(2026, 0, 2);
    expect(times.upTo(midnight)).toBe(midnight);
    expect(times.upTo(midnight - 1)).toBe(midnight - 24 * HOUR_MS);
    expect(times.upTo(midnight + 1)).toBe(midnight);
    expect(times.after(midnight)).toBe(midnight + 24 * HOUR_MS);
    expect(times.after(midnight - 1)).toBe(midnight);
  });

  test('answers as if it were asked for the first time, in whatever order', () => {
    const cron = ['*/30 * * * *', '30 2 * * *', '0 0 29 2 *'];
    fc.assert(
      fc.property(
        fc.subarray(cron, { minLength: 1 }),
        fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 100 })), { minLength: 2, maxLength: 12 }),
        (expressions, questions) => {
          const times = berlin(...expressions);
          const start = Date.UTC(2026, 9, 24, 22);
          for (const [isAfter, part] of questions) {
            const [method, time] = [isAfter ? 'after' : 'upTo', start + part * 5 * 60_000] as const;
            expect(times[method](time), `${method} ${part}`).toBe(berlin(...expressions)[method](time));
          }
        },
      ),
    );
  });

  const expressions = existsSync(EXPRESSIONS)
    ? readFileSync(EXPRESSIONS, 'utf8')
        .split('\n')
        .slice(1)
        .filter((line) => line !== '')
        .map((line) => line.split('\t')[1]!)
    : [];

  test.skipIf(!isThere)(
    'goes the same way back as forth for every real expression, over both changes of clocks',
    () => {
      expect(expressions.length).toBeGreaterThan(70);
      for (const expression of expressions) {
        expect(describeScheduleFault({ cron: [expression], timezone: 'Europe/Berlin' }, 0), expression).toBeUndefined();
        const times = berlin(expression);
        for (const change of ['2026-03-29T01:00Z', '2026-10-25T01:00Z']) {
          const forth: number[] = [];
          for (let at = Date.parse(change) - 6 * HOUR_MS; forth.length < 20; at = forth.at(-1)!) {
            forth.push(times.after(at)!);
          }
          expect(new Set(forth).size).toBe(20);
          forth.forEach((time, index) => {
            expect(time % 60_000).toBe(0);
            expect(times.upTo(time), expression).toBe(time);
            if (index > 0) expect(times.upTo(time - 1), `${expression} before ${time}`).toBe(forth[index - 1]);
          });
        }
      }
    },
  );
});

describe('describeScheduleFault', () => {
  test.each([
    ['*/70 * * * *', 'UTC', 'steps cannot be greater'],
    ['0 0 31 2 *', 'UTC', 'never matches any time'],
    ['0 0 * * * *', 'UTC', 'exactly 5 parts'],
    ['0 0 * * *', 'Mars/Base', 'Mars/Base'],
  ])('says what is wrong with %s in %s', (expression, timezone, reason) => {
    const fault = describeScheduleFault({ cron: ['0 1 * * *', expression], timezone }, 0);
    expect(fault).toContain(reason);
  });
});
