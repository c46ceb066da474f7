import type { Step } from '@sluice/core';
import { expect, test } from 'vitest';
import { attemptFacts, createRunFacts } from '../../src/facts/run-facts.ts';
import type { SchedulerEvent } from '../../src/scheduler/model/event.ts';
import { createScheduler } from '../../src/scheduler/scheduler.ts';
import { viewFailures } from '../../src/view/view-failures.ts';
import { createHandPlan, createStep } from '../plans.ts';

const after = (step: string): Partial<Step> => ({ needs: [{ step, condition: 'succeeded' }] });

test('a rejected approval is a failure, and what it would have released was skipped', () => {
  const plan = createHandPlan([
    createStep('ok', { approval: {} }),
    createStep('deploy', { command: ['deploy'], ...after('ok') }),
    createStep('other', { command: ['other'] }),
  ]);
  const scheduler = createScheduler(plan);
  const facts = createRunFacts(plan);
  const source = { facts, scheduler, directory: '/home/runs/r' };
  const handle = (event: SchedulerEvent) => scheduler.handle(event);
  handle({ type: 'started', at: 0 });
  expect(viewFailures(source)).toMatchObject({ failedCellCount: 0, failureGroups: [], skippedSteps: [] });
  handle({ type: 'approved', at: 1, step: 0, approved: false, by: 'ada' });
  expect(viewFailures(source)).toEqual({
    failedCellCount: 1,
    failureGroupCount: 1,
    failureGroups: [
      {
        ...{ step: 'ok', cell: '', attempt: 1, status: 'failed', message: 'the approval was rejected', logTail: [] },
        ...{ cellCount: 1, cells: [{ cell: '', cellIndex: 0 }] },
      },
    ],
    skippedSteps: [{ step: 'deploy', cellCount: 1, message: expect.any(String) }],
  });
  // An attempt that another one follows is none.
  attemptFacts(facts, { step: 2, cell: 0, attempt: 1 });
  facts.failures.push({ step: 2, cell: 0, attempt: 1 });
  expect(viewFailures(source).failedCellCount).toBe(1);
});
