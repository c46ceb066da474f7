import { createRunFacts } from '@sluice/run';
import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { createRunUsage, sizeOfJson } from '../../src/session/run-usage.ts';

const facts = createRunFacts(createHandPlan([createStep('a'), createStep('b', { foreach: '${{ params.x }}' })]));

test('createRunUsage: a step that is decided again counts once, and a changed limit applies at once', () => {
  let maximum = 3;
  const usage = createRunUsage(facts, { maxCells: () => maximum, maxResultBytes: 0 });
  expect(usage.addCells(1, 3)).toContain('would have 4 cells, and this server allows 3');
  maximum = 4;
  expect(usage.addCells(1, 3)).toBeUndefined();
});

test('createRunUsage: parts of several results count together until they are released', () => {
  const usage = createRunUsage(facts, { maxCells: () => 0, maxResultBytes: 10 });
  const [one, other] = [usage.holdResults(), usage.holdResults()];
  expect([one.take(4), other.take(4), one.take(3)]).toEqual([
    undefined,
    undefined,
    expect.stringContaining('may have 10 bytes'),
  ]);
  other.release();
  other.release();
  expect([one.take(6), one.take(1)]).toEqual([undefined, expect.any(String)]);
});

test('createRunUsage: without an allowance, everything is allowed', () => {
  const usage = createRunUsage(facts, undefined);
  expect([usage.addCells(1, 1e9), usage.holdResults().take(1e12)]).toEqual([undefined, undefined]);
});

test('sizeOfJson is at least the length of the text, and not twice as much', () => {
  for (const value of ['text', { a: [1, 2.5, null, true], b: { c: 'x'.repeat(50) } }, ['a', 'b', 'c'.repeat(20)]]) {
    const { length } = JSON.stringify(value);
    expect(sizeOfJson(value)).toBeGreaterThanOrEqual(length);
    expect(sizeOfJson(value)).toBeLessThan(2 * length + 10);
  }
});
