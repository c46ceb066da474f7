import { renderDuration } from '@sluice/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeTimeSpent } from '../../src/report/describe-time-spent.ts';
import { TIME_PARTS, type TimePart } from '../../src/schemas/time-parts.ts';
import type { TimeSpent } from '../../src/schemas/time-spent.ts';

const NAMES = Object.keys(TIME_PARTS) as TimePart[];
const MS = { d: 86_400_000, h: 3_600_000, min: 60_000, s: 1_000, ms: 1 } as const;

function createSpent(parts: Partial<Record<TimePart, number>>): TimeSpent {
  const all = NAMES.map((part) => [`${part}Ms`, parts[part] ?? 0] as const);
  return { ...Object.fromEntries(all), totalMs: all.reduce((sum, [, ms]) => sum + ms, 0) } as unknown as TimeSpent;
}

/** What a rendered duration says, in milliseconds. */
function read(duration: string): number {
  if (duration.startsWith('under ')) return 0;
  const units = [...duration.matchAll(/([\d.]+) (d|h|min|s|ms)\b/g)];
  return Math.round(units.reduce((sum, [, count, unit]) => sum + Number(count) * MS[unit as keyof typeof MS], 0));
}

test('the durations and the percentages of the parts add up as they are shown', () => {
  const { total, parts } = describeTimeSpent(
    createSpent({ computing: 4_149, queued: 1_049, retries: 1_020, other: 22 }),
  );
  expect(total).toBe('6.2 s');
  expect(parts.map(({ label, duration }) => `${label} ${duration}`)).toEqual([
    'computing 4.2 s',
    'queued 1.0 s',
    'retries 1.0 s',
    'other under 0.1 s',
  ]);
  // Each rounded by itself, they would add up to 101%.
  const thirds = describeTimeSpent(createSpent({ computing: 33_500, queued: 33_495, other: 33_000, retries: 5 }));
  expect(thirds.parts.map(({ percent }) => percent)).toEqual(['34%', '33%', '<1%', '33%']);
  const ms = fc.oneof(fc.nat(100), fc.nat(20_000), fc.nat(10_000_000), fc.nat(1_000_000_000));
  fc.assert(
    fc.property(fc.array(ms, { minLength: NAMES.length, maxLength: NAMES.length }), (all) => {
      const spent = createSpent(Object.fromEntries(NAMES.map((part, index) => [part, all[index]!])));
      const shown = describeTimeSpent(spent);
      expect(shown.parts.reduce((sum, { duration }) => sum + read(duration), 0)).toBe(read(shown.total));
      const percents = shown.parts.map(({ percent }) => (percent === '<1%' ? 0 : Number.parseInt(percent, 10)));
      expect(percents.reduce((sum, percent) => sum + percent, 0)).toBe(spent.totalMs === 0 ? 0 : 100);
      // Halves of tenths of a second may be rounded either way.
      const isHalf = spent.totalMs < 9_950 && spent.totalMs % 100 === 50;
      if (!isHalf) expect(shown.total).toBe(renderDuration(spent.totalMs));
    }),
  );
});
