import { expect, test } from 'vitest';
import { roundTicks } from '../../src/model/round-ticks.ts';

test.each([
  [1, [0]],
  [3, [0, 1, 2]],
  [618, [0, 200, 400]],
  [153_000, [0, 60_000, 120_000]],
  [3_500_000, [0, 900_000, 1_800_000, 2_700_000]],
  [40 * 86_400_000, [0, 864_000_000, 1_728_000_000, 2_592_000_000]],
])('an axis of %d ms has the ticks %j', (span, ticks) => {
  expect(roundTicks(span)).toEqual(ticks);
});

test('an axis of any length has few ticks, far from each other', () => {
  for (let span = 1; span < 1e15; span = Math.ceil(span * 1.37)) {
    const ticks = roundTicks(span);
    expect(ticks.length).toBeLessThanOrEqual(5);
    for (let index = 1; index < ticks.length; index++)
      expect(ticks[index]! - ticks[index - 1]!).toBeGreaterThanOrEqual(span / 5);
  }
});
