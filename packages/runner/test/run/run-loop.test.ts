import { expect, test } from 'vitest';
import { createSystemClock } from '../../src/clock.ts';
import type { JournalRecord } from '../../src/journal/journal-record.ts';
import { createRunFacts } from '../../src/record/run-facts.ts';
import { createRunLoop } from '../../src/run/run-loop.ts';
import { createScheduler } from '../../src/scheduler/scheduler.ts';
import { createHandPlan, createStep } from '../simulation/plans.ts';

test('createRunLoop writes no event that the scheduler refuses, so that a replay stops nowhere', async () => {
  const plan = createHandPlan([createStep('a')]);
  const written: JournalRecord[] = [];
  const failed = await new Promise<unknown>((resolve) => {
    const loop = createRunLoop({
      clock: createSystemClock(),
      scheduler: createScheduler(plan),
      facts: createRunFacts(plan),
      journal: {
        append: (record) => void written.push(record),
        commit: async () => {},
        write: async () => {},
        close: async () => {},
      },
      redact: (data) => data,
      onFailure: resolve,
    });
    loop.begin();
    loop.post({ type: 'started', at: 1 });
    // A run begins once only: the second is a bug of whoever posted it.
    loop.post({ type: 'started', at: 2 });
    loop.post({ type: 'cancelRequested', at: 3, by: 'a test' });
  });
  expect(String(failed)).toContain('has been started');
  expect(written).toEqual([{ kind: 'event', event: { type: 'started', at: 1 } }]);
});
