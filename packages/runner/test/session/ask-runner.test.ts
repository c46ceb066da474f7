import type { Disk } from '@sluice/home';
import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { approveRun } from '../../src/run/approve-run.ts';
import { cancelRun } from '../../src/run/cancel-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import { suspendRun } from '../../src/run/suspend-run.ts';
import type { RunHandle } from '../../src/session/run-options.ts';
import { createRig, type Rig } from '../simulation/rig.ts';

async function start(rig: Rig, plan: ReturnType<typeof createHandPlan>): Promise<RunHandle> {
  const started = await rig.go(startRun({ ...rig.options, plan, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  return started.value;
}

const SLOW = createHandPlan([createStep('slow')]);
const slowRig = (seed: string) => createRig(seed, { behave: { slow: { runMs: 3_600_000 } } });

/** The disk of a process that asks another one, which is stopped for so long before it reads the request. */
function stopHolder(rig: Rig, forMs: number): { readonly disk: Disk; readonly delivered: () => Promise<unknown> } {
  let last: Promise<unknown> = Promise.resolve();
  const ask: Disk['ask'] = async (directory, line) => {
    if (line === '') return rig.disk.ask(directory, line);
    last = rig.clock.delay(forMs).then(() => rig.disk.ask(directory, line));
    await rig.clock.delay(5_000);
    return '';
  };
  return { disk: { ...rig.disk, ask }, delivered: () => last };
}

const ASK = createHandPlan([
  createStep('ask', { approval: {} }),
  createStep('deploy', { needs: [{ step: 'ask', condition: 'succeeded' }] }),
]);

test('lets no request take effect after its client has reported that it failed', async () => {
  const rig = createRig('late approval');
  const handle = await start(rig, ASK);
  const { runId } = handle;
  const stopped = stopHolder(rig, 60_000);
  const answer = { runId, step: 'ask', approved: true, by: 'x' };
  const approved = await rig.go(approveRun('/home', answer, { ...rig.options, disk: stopped.disk }));
  expect(approved).toMatchObject({ ok: false, error: { message: expect.stringContaining('has expired') } });
  await rig.go(stopped.delivered());
  expect(await rig.go(approveRun('/home', { ...answer, approved: false }, rig.options))).toMatchObject({ ok: true });
  expect(await rig.go(handle.finished)).toMatchObject({ status: 'failed' });
  expect(rig.created()).toEqual([]);
});

test.each(['cancel', 'suspend'] as const)('lets a late request to %s a run change nothing', async (verb) => {
  const rig = slowRig(`late ${verb}`);
  const handle = await start(rig, SLOW);
  await rig.until(() => rig.created().length === 1);
  const stopped = stopHolder(rig, 60_000);
  const options = { ...rig.options, disk: stopped.disk, runId: handle.runId };
  const asked = verb === 'cancel' ? cancelRun({ ...options, by: 'x' }) : suspendRun(options);
  expect(await rig.go<unknown>(asked)).toMatchObject({ ok: false, error: { code: 'RUN_IN_USE' } });
  await rig.go(stopped.delivered());
  expect(await rig.go(handle.finished)).toMatchObject({ status: 'succeeded' });
});

test('says that a request may still be carried out if the machine has no clock for a deadline', async () => {
  const rig = slowRig('no deadline');
  const handle = await start(rig, SLOW);
  const stopped = stopHolder(rig, 60_000);
  const clock = { ...rig.clock, boot: () => undefined };
  const options = { ...rig.options, clock, disk: stopped.disk, runId: handle.runId };
  const asked = await rig.go(cancelRun({ ...options, by: 'x' }));
  expect(asked).toMatchObject({ ok: false, error: { message: expect.stringContaining('may still carry') } });
  await rig.go(handle.finished);
});

test('lets a request that waits for less than its deadline take effect', async () => {
  const rig = createRig('late but in time');
  const handle = await start(rig, ASK);
  const stopped = stopHolder(rig, 3_000);
  const answer = { runId: handle.runId, step: 'ask', approved: false, by: 'x' };
  await rig.go(approveRun('/home', answer, { ...rig.options, disk: stopped.disk }));
  expect(await rig.go(handle.finished)).toMatchObject({ status: 'failed' });
});
