import { explainStep } from '@sluice/home';
import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig } from '../simulation/rig.ts';

const HOLD = 'only web of this run can run, and use must wait at the service';

test('a run whose service step holds the capacity that its dependents need reports this once, and why always does', async () => {
  const plan = createHandPlan([
    createStep('web', { service: {} }),
    createStep('use', { needs: [{ step: 'web', condition: 'running' }] }),
  ]);
  const rig = createRig('held', { behave: { web: { runMs: 3_600_000 }, use: { pendingMs: 600_000 } } });
  const started = await rig.go(startRun({ ...rig.options, plan, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  const warnings = () => rig.events.flatMap((event) => (event.type === 'warning' ? [event.message] : []));
  await rig.until(() => warnings().length > 0);
  const { runId } = started.value;
  const explained = await explainStep({ home: '/home', disk: rig.disk, runId, step: 'use' });
  expect(explained).toMatchObject({ ok: true, value: { message: expect.stringContaining(HOLD) } });
  const report = await rig.go(started.value.finished);
  expect(report.status).toBe('succeeded');
  expect(warnings()).toEqual([expect.stringContaining(HOLD)]);
});

test('a run with a service step is not said to be held up while something else of it runs', async () => {
  const plan = createHandPlan([
    createStep('web', { service: {} }),
    createStep('use', { needs: [{ step: 'web', condition: 'running' }] }),
    createStep('other'),
  ]);
  const behave = { web: { runMs: 3_600_000 }, use: { pendingMs: 600_000 }, other: { runMs: 700_000 } };
  const rig = createRig('busy', { behave });
  const started = await rig.go(startRun({ ...rig.options, plan, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  await rig.go(started.value.finished);
  expect(rig.events.filter(({ type }) => type === 'warning')).toEqual([]);
});
