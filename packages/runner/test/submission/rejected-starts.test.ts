import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig } from '../simulation/rig.ts';

const STEPS = 300;
const plan = createHandPlan(Array.from({ length: STEPS }, (_, index) => createStep(`s${index}`)));

/** Creates and questions of a whole run, and the most of them within a second. */
async function countRequests(seed: string, given: Parameters<typeof createRig>[1]) {
  const rig = createRig(seed, given);
  const perSecond = new Map<number, number>();
  const { containers } = rig.options.service;
  const note = () => {
    const second = Math.floor(rig.clock.now() / 1000);
    perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
  };
  const service = {
    ...rig.options.service,
    containers: {
      ...containers,
      create: (...args: Parameters<typeof containers.create>) => {
        note();
        return containers.create(...args);
      },
    },
  };
  const started = await rig.go(startRun({ ...rig.options, service, plan, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  const report = await rig.go(started.value.finished);
  expect(report.status).toBe('succeeded');
  const counts = [...perSecond.values()];
  const total = counts.reduce((sum, count) => sum + count, 0);
  // In the first second, the runner learns that there is no capacity.
  return { total, later: Math.max(0, ...counts.slice(2)), seconds: counts.length, calls: rig.simulated.calls };
}

test('a service with room for five is not asked a thousand times a second by three hundred ready steps', async () => {
  const behave = Object.fromEntries(plan.steps.map(({ step }) => [step.name, { runMs: 10_000 }]));
  const { total, later, calls } = await countRequests('quota', { quota: 5, behave });
  expect(later).toBeLessThanOrEqual(60);
  expect(total / STEPS).toBeLessThanOrEqual(4);
  expect((calls.get('get') ?? 0) / STEPS).toBeLessThanOrEqual(6);
});

test('a service that throttles half of all requests is asked at a bounded pace', async () => {
  const { total, later } = await countRequests('throttled', { faults: { throttled: 0.5 } });
  expect(total / STEPS).toBeLessThanOrEqual(4);
  expect(later).toBeLessThanOrEqual(60);
});
