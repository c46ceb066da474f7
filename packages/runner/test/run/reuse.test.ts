import { readRun } from '@sluice/home';
import { describeStatus } from '@sluice/run';
import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import type { RunHandle, StartRunOptions } from '../../src/session/run-options.ts';
import { createRig, type Rig } from '../simulation/rig.ts';
import type { Behaviour } from '../simulation/simulated-service.ts';

const need = (step: string) => ({ step, condition: 'succeeded' as const });
const PLAN = createHandPlan([
  createStep('make', { command: ['make'], outputs: { data: { path: '/out', retain: true } } }),
  createStep('side', { command: ['side'] }),
  createStep('check', {
    command: ['check'],
    inputs: { data: { from: { step: 'make', output: 'data' }, path: '/in/data' } },
    needs: [need('side')],
  }),
  createStep('last', { command: ['last'], needs: [need('check')] }),
]);

async function start(rig: Rig, more: Partial<StartRunOptions> = {}): Promise<RunHandle> {
  const started = await rig.go(startRun({ ...rig.options, plan: PLAN, baseDir: '/base', ...more }));
  if (!started.ok) throw new Error(started.error.message);
  return started.value;
}

test('a run that takes over is the same run wherever it was left, and starts nothing that it took or had started', async () => {
  const behave: Record<string, Partial<Behaviour>> = { check: { end: 'Failed' } };
  const rig = createRig('reuse', { behave });
  const failed = await start(rig);
  await rig.go(failed.finished);
  behave.check = { end: 'Succeeded', runMs: 500 };
  for (const leftAfterMs of [0, 1, 10, 30, 100, 400, 600, 700]) {
    const before = rig.created().length;
    const handle = await start(rig, { reuse: { runId: failed.runId, from: [] } });
    const leftAt = rig.clock.now() + leftAfterMs;
    await rig.until(() => rig.clock.now() >= leftAt);
    await rig.go(handle.suspend());
    const resumed = await rig.go(resumeRun({ ...rig.options, runId: handle.runId }));
    if (resumed.ok) await rig.go(resumed.value.finished);
    const report = await rig.go(readRun('/home', handle.runId, rig.disk));
    const states = report.ok ? report.value.steps.map((step) => `${step.step} ${describeStatus(step)}`) : report.error;
    expect(states, `left after ${leftAfterMs} ms`).toEqual([
      'make reused',
      'side reused',
      'check succeeded',
      'last succeeded',
    ]);
    const started = rig
      .created()
      .slice(before)
      .map(({ wire }) => wire.labels?.['sluice-step']);
    expect(started, `left after ${leftAfterMs} ms`).toEqual(['check', 'last']);
  }
});

test('a run whose earlier one has lost its data does the work again', async () => {
  const rig = createRig('lost');
  const first = await start(rig);
  await rig.go(first.finished);
  const published = `runs/${first.runId}/out/make`;
  for (const { files, directories } of rig.simulated.volumes.values()) {
    for (const path of [...files.keys(), ...directories]) {
      if (!path.startsWith(published)) continue;
      files.delete(path);
      directories.delete(path);
    }
  }
  const second = await start(rig, { reuse: { runId: first.runId, from: [] } });
  const { steps } = await rig.go(second.finished);
  // `check` mounts what had to be made again, and `last` waits for it; `side` has no data that could be lost.
  expect(steps.map((step) => `${step.step} ${describeStatus(step)}`)).toEqual([
    'make succeeded',
    'side reused',
    'check succeeded',
    'last succeeded',
  ]);
});

test('a run that is left has added its successes to the cache index, however slow the disk is', async () => {
  const rig = createRig('left-early');
  const cache = { ignore: [] };
  const plan = createHandPlan([
    createStep('make', { command: ['make'], cache }),
    createStep('ask', { approval: {}, needs: [need('make')] }),
  ]);
  const extend = async (file: string, bytes: Uint8Array) => {
    await rig.clock.delay(60_000);
    await rig.disk.extend(file, bytes);
  };
  const slow = { disk: { ...rig.disk, extend }, plan, leavesForPeople: true };
  for (const reused of [undefined, true]) {
    const handle = await start(rig, slow);
    expect((await rig.go(handle.finished)).steps[0]).toMatchObject({
      ...{ step: 'make', status: 'succeeded' },
      ...(reused && { reused }),
    });
  }
});
