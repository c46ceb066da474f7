import { expect, test } from 'vitest';
import { createRunFacts } from '../../src/facts/run-facts.ts';
import { endMessage } from '../../src/report/end-message.ts';
import { createHandPlan, createStep } from '../plans.ts';

test('endMessage says who canceled, but not of a run that had succeeded before the word came', () => {
  const facts = { ...createRunFacts(createHandPlan([createStep('a')])), canceledBy: 'interrupt' };
  expect(endMessage(facts, 'canceled')).toBe('canceled by interrupt');
  expect(endMessage(facts, 'succeeded')).toBeUndefined();
});
