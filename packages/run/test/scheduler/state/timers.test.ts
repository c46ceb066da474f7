import { describe, expect, test } from 'vitest';
import { handleEvent } from '../../../src/scheduler/handle-event.ts';
import { createRunState } from '../../../src/scheduler/state/run-state.ts';
import { testPlan } from '../test-plan.ts';

describe('timers of a run', () => {
  test('handle: steps that end long before their timeout do not pile up timers', () => {
    const run = createRunState(
      testPlan({ fit: { cells: 6000, timeoutMs: 3_600_000, deadlineMs: 7_200_000 } }, { parallelism: 2 }),
      {},
    );
    handleEvent(run, { type: 'started', at: 0 });
    let most = 0;
    for (let cell = 0; cell < 6000; cell++) {
      const attempt = { at: cell, step: 0, cell, attempt: 1 };
      handleEvent(run, { type: 'running', ...attempt });
      handleEvent(run, { type: 'ended', ...attempt, outcome: { result: 'succeeded' } });
      most = Math.max(most, run.timers.size - 4 * run.counts[1]!);
    }
    expect(run.finished).toBe(true);
    expect(most).toBeLessThan(1100);
    // For the deadline at the start, and once for the timeout that comes before it.
    expect(run.out.filter(({ type }) => type === 'wake')).toHaveLength(2);
  });
});
