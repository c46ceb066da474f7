import { ServiceError } from '@sluice/client';
import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig } from '../simulation/rig.ts';

const UNREADABLE_MS = 10 * 60_000;

test('a create whose reply is lost, and whose container has unreadable replies, is warned of once and not repeated', async () => {
  const rig = createRig('unreadable', { hints: false, behave: { a: { runMs: 2 * UNREADABLE_MS } } });
  const { service, clock } = rig.options;
  const readable = clock!.now() + UNREADABLE_MS;
  const { containers } = service;
  const odd = {
    ...service,
    containers: {
      ...containers,
      create: async (...given: Parameters<typeof containers.create>) => {
        await containers.create(...given);
        throw new ServiceError('NO_REPLY', 'no reply came within 30 s');
      },
      get: async (...given: Parameters<typeof containers.get>) => {
        const seen = await containers.get(...given);
        if (clock!.now() >= readable) return seen;
        throw new ServiceError('INVALID_REPLY', 'runTime: expected number, received string', { status: 200 });
      },
    },
  };
  const plan = createHandPlan([createStep('a')]);
  const started = await rig.go(startRun({ ...rig.options, service: odd, plan, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  const report = await rig.go(started.value.finished);
  expect(report).toMatchObject({ status: 'succeeded' });
  expect(rig.created()).toHaveLength(1);
  expect(report.warnings).toMatchObject([
    {
      message: expect.stringContaining('could not get the state of a: runTime: expected number'),
      concerns: 'service',
    },
  ]);
});
