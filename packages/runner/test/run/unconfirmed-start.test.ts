import { type ContainerService, ServiceError } from '@sluice/client';
import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { adoptRun } from '../../src/run/adopt-run.ts';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig, type RigOptions } from '../simulation/rig.ts';
import { createProcess } from '../simulation/simulated-process.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const PLAN = createHandPlan([createStep('a', { timeoutMs: HOUR })]);
/** How much later than in truth a container may be assumed to have started, in minutes. */
const MARGIN = 25;

/** A world with a runner that dies when its first container exists, before the reply arrives. */
function createWorld(seed: string, behave: RigOptions['behave'] = { a: { runMs: 5 * HOUR } }) {
  const rig = createRig(seed, { behave });
  const { clock, disk, service } = rig.options as Required<typeof rig.options>;
  return {
    rig,
    /** `service` is what the runner sees; by default the service itself. */
    async startAndDie(seen: ContainerService = service): Promise<string> {
      const { containers } = seen;
      const create: typeof containers.create = async (...given) => {
        const made = await containers.create(...given);
        process.kill();
        return made;
      };
      const process = createProcess({ clock, disk, service: { ...seen, containers: { ...containers, create } } });
      const mine = { clock: process.clock, disk: process.disk, service: process.service };
      const started = await rig.go(startRun({ ...rig.options, ...mine, plan: PLAN, baseDir: '/base' }));
      if (!started.ok) throw new Error(started.error.message);
      await rig.until(() => !process.alive);
      return started.value.runId;
    },
    wait: (ms: number) => rig.go(rig.clock.delay(ms)),
    /** Resumes the run and waits for its end: how it ended, after how many minutes, and how long its container ran. */
    async resume(runId: string) {
      const begun = rig.clock.now();
      const resumed = await rig.go(resumeRun({ ...rig.options, runId }));
      if (!resumed.ok) throw new Error(resumed.error.message);
      const report = await rig.go(resumed.value.finished);
      expect(rig.created()).toHaveLength(1);
      const { startTime = '', endTime = '' } = rig.created()[0]!.wire;
      return {
        step: report.steps[0],
        minutes: Math.round((rig.clock.now() - begun) / MINUTE),
        ranMs: Date.parse(endTime) - Date.parse(startTime),
      };
    },
  };
}

const TIMED_OUT = { status: 'failed', reason: 'timeout' };

test.each([
  { what: 'at once', pendingMs: 20, awayMs: 50 * MINUTE, left: 10 + MARGIN },
  { what: 'after a wait', pendingMs: 30 * MINUTE, awayMs: 75 * MINUTE, left: 15 + MARGIN },
  { what: 'long ago', pendingMs: 20, awayMs: 4 * HOUR, left: 0 },
])('the time that an unconfirmed container ran counts for its timeout: started $what', async (given) => {
  const world = createWorld('unconfirmed', { a: { pendingMs: given.pendingMs, runMs: 5 * HOUR } });
  const runId = await world.startAndDie();
  await world.wait(given.awayMs);
  const { step, minutes, ranMs } = await world.resume(runId);
  expect(step).toMatchObject(TIMED_OUT);
  expect(minutes).toBe(given.left);
  expect(ranMs).toBeGreaterThanOrEqual(HOUR);
});

test.each([0, DAY, -DAY])(
  'an unconfirmed container that has just started has its whole timeout: clock set by %s ms',
  async (ms) => {
    const world = createWorld('young');
    const runId = await world.startAndDie();
    world.rig.clock.jump(ms);
    const { step, ranMs } = await world.resume(runId);
    expect(step).toMatchObject(TIMED_OUT);
    expect(ranMs).toBeGreaterThanOrEqual(HOUR);
  },
);

/** Hours may pass between the last record of a runner and its next request. */
test('a container that was requested hours after its intent has its whole timeout', async () => {
  const world = createWorld('late request');
  const { clock, options } = world.rig;
  const reachableAt = clock.now() + 3 * HOUR;
  const { containers } = options.service;
  let requests = 0;
  const seen: ContainerService = {
    ...options.service,
    containers: {
      ...containers,
      create: async (...given) => {
        if (++requests === 1) throw new ServiceError('NO_REPLY', 'the request is lost');
        return containers.create(...given);
      },
      get: async (ref) => {
        if (clock.now() < reachableAt) throw new ServiceError('UNREACHABLE', 'the service is away');
        return containers.get(ref);
      },
    },
  };
  const runId = await world.startAndDie(seen);
  expect(clock.now()).toBeGreaterThanOrEqual(reachableAt);
  const { step, ranMs } = await world.resume(runId);
  expect(step).toMatchObject(TIMED_OUT);
  expect(ranMs).toBeGreaterThanOrEqual(HOUR);
});

test('a container that the resumed run itself has requested has its whole timeout', async () => {
  const world = createWorld('requested again');
  const { containers } = world.rig.options.service;
  const lose = () => Promise.reject(new ServiceError('NO_REPLY', 'the request is lost'));
  const lost = { ...world.rig.options.service, containers: { ...containers, create: lose, get: lose } };
  const process = createProcess({ ...world.rig, service: lost });
  const mine = { clock: process.clock, disk: process.disk, service: process.service };
  const started = await world.rig.go(startRun({ ...world.rig.options, ...mine, plan: PLAN, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  await world.wait(MINUTE);
  process.kill();
  await world.wait(3 * HOUR);
  const { step, ranMs } = await world.resume(started.value.runId);
  expect(step).toMatchObject(TIMED_OUT);
  expect(ranMs).toBeGreaterThanOrEqual(HOUR);
});

test('the timeout of a container that an adoption has found counts from the adoption at the latest', async () => {
  const world = createWorld('adopted');
  const { rig } = world;
  const runId = await world.startAndDie();
  for (const file of [...rig.disk.files.keys()]) if (file.includes(runId)) rig.disk.files.delete(file);
  const adopted = await rig.go(adoptRun({ ...rig.options, runId, plan: PLAN, baseDir: '/base' }));
  expect(adopted).toMatchObject({ ok: true, value: [{ phase: expect.any(String) }] });
  await world.wait(50 * MINUTE);
  const { step, minutes, ranMs } = await world.resume(runId);
  expect(step).toMatchObject(TIMED_OUT);
  expect(minutes).toBeGreaterThanOrEqual(10);
  expect(minutes).toBeLessThanOrEqual(10 + MARGIN);
  expect(ranMs).toBeGreaterThanOrEqual(HOUR);
});
