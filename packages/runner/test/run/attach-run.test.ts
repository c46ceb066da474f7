import type { RunnerEvent } from '@sluice/run';
import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { attachRun } from '../../src/run/attach-run.ts';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig, type Rig } from '../simulation/rig.ts';

const need = (step: string) => ({ step, condition: 'succeeded' as const });
const PLAN = createHandPlan([
  createStep('early'),
  createStep('fails', { needs: [need('early')] }),
  createStep('ask', { needs: [need('early')], approval: { message: 'continue?' } }),
]);
const rigOf = (seed: string) =>
  createRig(seed, { behave: { early: { runMs: 1_000 }, fails: { runMs: 60_000, end: 'Failed' } } });

async function start(rig: Rig) {
  const started = await rig.go(startRun({ ...rig.options, plan: PLAN, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  return started.value;
}

async function attach(rig: Rig, runId: string, isAwaited?: () => Promise<boolean>) {
  const events: RunnerEvent[] = [];
  const reporter = { report: (event: RunnerEvent) => void events.push(event) };
  const { home, disk, clock } = rig.options;
  const attached = await rig.go(
    attachRun({ home, disk: disk!, clock: clock!, runId, reporter, ...(isAwaited && { isAwaited }) }),
  );
  if (!attached.ok) throw new Error(attached.error.message);
  return { events, attached: attached.value };
}

const ends = (events: readonly RunnerEvent[]) =>
  events.flatMap((event) =>
    event.type === 'cellChanged' && ['succeeded', 'failed', 'skipped'].includes(event.status)
      ? [`${event.step} ${event.status}`]
      : [],
  );

test('reports what the process that executes the run reports, from the present state on', async () => {
  const rig = rigOf('attach');
  const handle = await start(rig);
  await rig.until(() => rig.created().length === 2);
  const { events, attached } = await attach(rig, handle.runId);
  await rig.until(() => rig.events.some(({ type }) => type === 'attemptFailed'));
  await rig.until(() => events.some(({ type }) => type === 'attemptFailed'));
  handle.cancel('a test');
  const report = await rig.go(attached.finished);
  expect(report.status).toBe('failed');
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(events[0]).toMatchObject({ type: 'runStarted', resumed: true, runId: handle.runId });
  expect(events.at(-1)).toMatchObject({ type: 'runFinished' });
  expect(ends(events).toSorted()).toEqual(ends(rig.events).toSorted());
  const approval = rig.events.find(({ type }) => type === 'approvalAsked');
  expect(events).toContainEqual({ ...approval, at: expect.any(Number), seq: expect.any(Number) });
});

test('reports a run that has ended', async () => {
  const rig = rigOf('ended');
  const handle = await start(rig);
  handle.cancel('a test');
  await rig.go(handle.finished);
  const { events, attached } = await attach(rig, handle.runId);
  expect(await rig.go(attached.finished)).toMatchObject({ status: 'canceled', message: 'canceled by a test' });
  expect(events.at(-1)).toMatchObject({ type: 'runFinished' });
});

test('stays while the run changes hands, and ends when no process executes it', async () => {
  const rig = rigOf('hands');
  const handle = await start(rig);
  await rig.until(() => rig.created().length === 2);
  const { attached } = await attach(rig, handle.runId);
  await rig.go(handle.suspend());
  await rig.go(rig.clock.delay(2_000));
  const resumed = await rig.go(resumeRun({ ...rig.options, runId: handle.runId }));
  if (!resumed.ok) throw new Error(resumed.error.message);
  await rig.go(rig.clock.delay(10_000));
  await rig.go(resumed.value.suspend());
  const left = rig.clock.now();
  expect(await rig.go(attached.finished)).toMatchObject({ status: 'suspended' });
  expect(rig.clock.now() - left).toBeGreaterThan(4_000);
});

test('waits for a run that a process is about to execute', async () => {
  const rig = rigOf('awaited');
  const handle = await start(rig);
  await rig.go(handle.suspend());
  let asked = 0;
  const { attached } = await attach(rig, handle.runId, async () => ++asked < 4);
  expect(await rig.go(attached.finished)).toMatchObject({ status: 'suspended' });
  expect(asked).toBe(4);
});

test('stops on request', async () => {
  const rig = rigOf('stop');
  const handle = await start(rig);
  const { events, attached } = await attach(rig, handle.runId);
  attached.stop();
  expect(await rig.go(attached.finished)).toMatchObject({ status: 'running' });
  const { length } = events;
  handle.cancel('a test');
  await rig.go(handle.finished);
  expect(events).toHaveLength(length);
});
