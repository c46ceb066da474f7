import { ServiceError } from '@sluice/client';
import { explainStep } from '@sluice/home';
import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig } from '../simulation/rig.ts';

test('a service without space puts a step off, is told of once with a reason, and loses nothing', async () => {
  const plan = createHandPlan(Array.from({ length: 20 }, (_, index) => createStep(`s${index}`)));
  const rig = createRig('no space');
  const { containers } = rig.options.service;
  const roomAt = rig.clock.now() + 300_000;
  let rejected = 0;
  const service = {
    ...rig.options.service,
    containers: {
      ...containers,
      async create(...given: Parameters<typeof containers.create>) {
        if (rig.clock.now() >= roomAt) return containers.create(...given);
        rejected++;
        const about = { status: 507, reason: 'STORE_FULL', retryAfterMs: 5000 };
        throw new ServiceError('UNAVAILABLE', 'could not create it: the disk is full', about);
      },
    },
  };
  const started = await rig.go(startRun({ ...rig.options, service, plan, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  await rig.until(() => rig.clock.now() >= roomAt - 100_000);
  const { home } = rig.options;
  const explained = await rig.go(explainStep({ home, disk: rig.disk, runId: started.value.runId, step: 's9' }));
  expect(explained).toMatchObject({
    value: { wait: { message: expect.stringContaining('the disk of the service is full; tried again at') } },
  });
  const report = await rig.go(started.value.finished);
  expect(report.status).toBe('succeeded');
  expect(rig.created()).toHaveLength(20);
  const warnings = rig.events.flatMap((event) => (event.type === 'warning' ? [event.message] : []));
  expect(warnings).toEqual([
    'could not create it: the disk is full; the run continues as soon as it can store data again',
  ]);
  // At most one call in five seconds after the first moment.
  expect(rejected).toBeLessThanOrEqual(20 + 60);
});
