import { describeStatus } from '@sluice/run';
import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig } from '../simulation/rig.ts';

test('explainCell says of a step that timed out that it did, also where another failure would have stopped it', async () => {
  const plan = createHandPlan([createStep('bad'), createStep('slow', { timeoutMs: 1_000 })]);
  const rig = createRig('timeout', { behave: { bad: { end: 'Failed' }, slow: { runMs: 60_000 } } });
  const started = await rig.go(startRun({ ...rig.options, plan, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  const { steps } = await rig.go(started.value.finished);
  expect(steps.map((step) => [describeStatus(step), step.cells[0]?.message])).toEqual([
    ['failed', expect.stringContaining('exit code')],
    ['failed (timeout)', 'it ran longer than its timeout'],
  ]);
});
