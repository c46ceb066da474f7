import { describeStatus } from '@sluice/run';
import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig } from '../simulation/rig.ts';

test('a run that can never go on ends at once and says what is held by what', async () => {
  const plan = createHandPlan(
    [
      createStep('web', { service: {} }),
      createStep('use', { needs: [{ step: 'web', condition: 'running' }] }),
      createStep('after', { needs: [{ step: 'use', condition: 'succeeded' }] }),
    ],
    { parallelism: 1 },
  );
  const rig = createRig('stuck', { behave: { web: { runMs: 3_600_000 } } });
  const started = await rig.go(startRun({ ...rig.options, plan, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  const begun = rig.clock.now();
  const report = await rig.go(started.value.finished);
  expect(rig.clock.now() - begun).toBeLessThan(60_000);
  expect(report.steps.map((step) => `${step.step} ${describeStatus(step)}`)).toEqual([
    'web succeeded',
    'use failed',
    'after skipped',
  ]);
  expect(report.message).toBe(
    'the run could not continue: use waits for parallelism: 1 of 1 are in use; deadlock: that capacity can never be freed',
  );
  expect(report.steps[1]!.cells[0]!.message).toBe(
    'could never start: waits for parallelism: 1 of 1 are in use; deadlock: that capacity can never be freed',
  );
});
