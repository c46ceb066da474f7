import { ServiceError } from '@sluice/client';
import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createSessionTimers } from '../../src/session/session-timers.ts';
import { createRig } from '../simulation/rig.ts';

const HOUR = 3_600_000;

/**
 * Cancels a run whose service asks to wait an hour before the next request, though the container ends; `timers` are those
 * that the runner has set and that would keep the process alive.
 */
async function waitForRetry(seed: string, slow: { readonly runMs: number; readonly isCanceled: boolean }) {
  const rig = createRig(seed, { behave: { slow: { runMs: slow.runMs } } });
  const timers = new Set<object>();
  const setTimer: typeof rig.clock.setTimer = (at, callback) => {
    const timer = {};
    timers.add(timer);
    const cancel = rig.clock.setTimer(at, () => {
      timers.delete(timer);
      callback();
    });
    return () => {
      timers.delete(timer);
      cancel();
    };
  };
  const { service } = rig.options;
  let asked = 0;
  const cancel: typeof service.containers.cancel = async (ref) => {
    if (slow.isCanceled) await service.containers.cancel(ref);
    asked += 1;
    throw new ServiceError('UNAVAILABLE', 'wait an hour', { retryAfterMs: HOUR });
  };
  const options = {
    ...rig.options,
    clock: { ...rig.clock, setTimer },
    service: { ...service, containers: { ...service.containers, cancel } },
  };
  const plan = createHandPlan([createStep('slow')]);
  const started = await rig.go(startRun({ ...options, plan, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  await rig.until(() => rig.created().some(({ wire }) => wire.phase === 'Running'));
  started.value.cancel('ada');
  await rig.until(() => asked > 0);
  return { rig, run: started.value, timers, begun: rig.clock.now() };
}

test('a run that is canceled leaves no timer, even if the service asked to wait longer than the run lasts', async () => {
  const { rig, run, timers, begun } = await waitForRetry('canceled', { runMs: HOUR, isCanceled: true });
  expect(await rig.go(run.finished)).toMatchObject({ status: 'canceled' });
  expect(rig.clock.now() - begun).toBeLessThan(HOUR / 2);
  expect(timers.size).toBe(0);
});

test('a run that is suspended leaves no timer, even in a pause between two requests', async () => {
  const { rig, run, timers } = await waitForRetry('left', { runMs: 10 * HOUR, isCanceled: false });
  expect(timers.size).toBeGreaterThan(0);
  await rig.go(run.suspend());
  expect(await rig.go(run.finished)).toMatchObject({ status: 'suspended' });
  expect(timers.size).toBe(0);
});

test('createSessionTimers sets none after the end, and calls nothing back once the session has stopped', () => {
  const due: (() => void)[] = [];
  let canceled = 0;
  const session = { stopped: false };
  const clock = {
    setTimer: (_at: number, callback: () => void) => {
      due.push(callback);
      return () => {
        canceled += 1;
      };
    },
  };
  const timers = createSessionTimers(clock, session);
  const called: string[] = [];
  timers.setTimer(1, () => void called.push('first'));
  timers.setTimer(2, () => void called.push('second'));
  timers.setTimer(3, () => void called.push('third'));
  timers.setTimer(4, () => void called.push('fourth'))();
  due[0]?.();
  session.stopped = true;
  due[1]?.();
  timers.end();
  timers.setTimer(5, () => void called.push('fifth'));
  expect({ called, canceled, set: due.length }).toEqual({ called: ['first'], canceled: 2, set: 4 });
});
