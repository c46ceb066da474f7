import { ServiceError } from '@sluice/client';
import { describe, expect, test } from 'vitest';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createHandPlan, createStep } from '../simulation/plans.ts';
import { createRig } from '../simulation/rig.ts';

const grouped = (behavior: 'queue' | 'cancel' | 'fail') =>
  createHandPlan([createStep('slow')], { concurrency: { group: 'nightly', limit: 1, behavior } });
const slow = { behave: { slow: { runMs: 600_000 } } };

describe('startRun with a concurrency group', () => {
  test('refuses a second run at once with `fail`, and takes it when the first is over', async () => {
    const rig = createRig('group-fail', slow);
    const start = () => rig.go(startRun({ ...rig.options, plan: grouped('fail'), baseDir: '/base' }));
    const first = await start();
    if (!first.ok) throw new Error(first.error.message);
    expect(await start()).toMatchObject({ ok: false, error: { code: 'GROUP_BUSY' } });
    await rig.go(first.value.finished);
    expect(await start()).toMatchObject({ ok: true });
  });

  test('waits with `queue`', async () => {
    const rig = createRig('group-queue', slow);
    const start = () => rig.go(startRun({ ...rig.options, plan: grouped('queue'), baseDir: '/base' }));
    const first = await start();
    const before = rig.clock.now();
    const second = await start();
    expect([first.ok, second.ok]).toEqual([true, true]);
    expect(rig.clock.now() - before).toBeGreaterThan(590_000);
  });

  test('cancels the older run with `cancel`', async () => {
    const rig = createRig('group-cancel', slow);
    const start = () => rig.go(startRun({ ...rig.options, plan: grouped('cancel'), baseDir: '/base' }));
    const first = await start();
    if (!first.ok) throw new Error(first.error.message);
    expect(await start()).toMatchObject({ ok: true });
    expect(await first.value.finished).toMatchObject({ status: 'canceled' });
  });

  test('cancels the older run with `cancel` also when that was only being taken up at first', async () => {
    const rig = createRig('group-taken-up', slow);
    let away = false;
    const { containers } = rig.options.service;
    const get: typeof containers.get = async (ref) => {
      if (!away) return containers.get(ref);
      await rig.clock.delay(20_000);
      throw new ServiceError('UNAVAILABLE', 'the service restarts');
    };
    const options = { ...rig.options, service: { ...rig.options.service, containers: { ...containers, get } } };
    const start = () => rig.go(startRun({ ...options, plan: grouped('cancel'), baseDir: '/base' }));
    const first = await start();
    if (!first.ok) throw new Error(first.error.message);
    await rig.until(() => rig.created().some(({ wire }) => wire.phase === 'Running'));
    await rig.go(first.value.detach());
    away = true;
    const resuming = resumeRun({ ...options, runId: first.value.runId });
    await rig.go(rig.clock.delay(1000));
    const begun = rig.clock.now();
    const second = startRun({ ...options, plan: grouped('cancel'), baseDir: '/base' });
    await rig.go(rig.clock.delay(1000));
    away = false;
    expect(await rig.go(second)).toMatchObject({ ok: true });
    expect(rig.clock.now() - begun).toBeLessThan(60_000);
    const resumed = await rig.go(resuming);
    expect(resumed.ok && (await rig.go(resumed.value.finished))).toMatchObject({ status: 'canceled' });
  });

  test('leaves no place taken by a runner that is gone', async () => {
    const rig = createRig('group-gone', slow);
    const start = () => rig.go(startRun({ ...rig.options, plan: grouped('fail'), baseDir: '/base' }));
    const first = await start();
    if (!first.ok) throw new Error(first.error.message);
    await rig.go(first.value.detach());
    expect(await start()).toMatchObject({ ok: true });
  });
});
