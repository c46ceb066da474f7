import { planLevels } from '@sluice/core';
import { expect, test } from 'vitest';
import { placeSteps } from '../../src/report/detailed-report.ts';
import { createHandPlan, createStep } from '../plans.ts';

test('placeSteps puts the steps of finally after all others, each after those that it needs', () => {
  const after = (step: string) => ({ needs: [{ step, condition: 'succeeded' as const }] });
  const plan = createHandPlan([
    createStep('a'),
    createStep('b', after('a')),
    createStep('tell', after('clean')),
    createStep('clean'),
    createStep('other', after('a')),
  ]);
  const finals = new Set(['tell', 'clean', 'other']);
  const steps = plan.steps.map((one) => ({ ...one, final: finals.has(one.step.name) }));
  expect(placeSteps({ ...plan, steps }, planLevels(plan))).toEqual([0, 1, 3, 2, 2]);
});
