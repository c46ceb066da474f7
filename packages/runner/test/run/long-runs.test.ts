import { type ContainerService, ServiceError } from '@sluice/client';
import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig, type Rig } from '../simulation/rig.ts';

const DAY = 86_400_000;
const PLAN = createHandPlan([
  createStep('quick'),
  createStep('slow'),
  createStep('after', { needs: [{ step: 'slow', condition: 'succeeded' }] }),
]);
const createSlowRig = (seed: string) => createRig(seed, { hints: false, behave: { slow: { runMs: 3_600_000 } } });

async function start(rig: Rig, service: ContainerService = rig.options.service) {
  const started = await rig.go(startRun({ ...rig.options, service, plan: PLAN, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  await rig.until(() => rig.created().length === 2);
  return started.value;
}

async function resume(rig: Rig, runId: string) {
  const resumed = await rig.go(resumeRun({ ...rig.options, runId }));
  if (!resumed.ok) throw new Error(resumed.error.message);
  return rig.go(resumed.value.finished);
}

test('a run that was left for eight days says what is lost and why, and does that again', async () => {
  const rig = createSlowRig('eight days');
  const handle = await start(rig);
  await rig.until(() => rig.events.some((event) => event.type === 'cellChanged' && event.status === 'running'));
  await rig.go(handle.suspend());
  await rig.go(rig.clock.delay(8 * DAY));
  const report = await resume(rig, handle.runId);
  expect(report.status).toBe('succeeded');
  const lost = report.failures.filter(({ step }) => step === 'slow');
  expect(lost).toMatchObject([
    { attempt: 1, reason: 'infrastructure', message: expect.stringContaining('started 8 days ago') },
  ]);
  expect(lost[0]!.message).toContain('keeps ended containers for 7 days');
});

test('what may have been started eight days ago is not started again under its ID', async () => {
  const rig = createSlowRig('doubt');
  const handle = await start(rig);
  // No reply has come yet.
  await rig.go(handle.suspend());
  await rig.go(rig.clock.delay(8 * DAY));
  const report = await resume(rig, handle.runId);
  expect(report.status).toBe('succeeded');
  expect(report.failures.map(({ message }) => message)).toEqual([
    expect.stringContaining('requested 8 days ago'),
    expect.stringContaining('requested 8 days ago'),
  ]);
  const ids = rig.created().map(({ wire }) => wire.id);
  expect(ids).toEqual([...new Set(ids)]);
});

test('a run that was left for six days takes up what has ended meanwhile', async () => {
  const rig = createSlowRig('six days');
  const handle = await start(rig);
  await rig.go(handle.suspend());
  await rig.go(rig.clock.delay(6 * DAY));
  const report = await resume(rig, handle.runId);
  expect(report).toMatchObject({ status: 'succeeded', failures: [] });
  expect(rig.created()).toHaveLength(3);
});

test('a run whose login is over warns, stops with a word on how to go on, and starts nothing twice with a new one', async () => {
  const rig = createSlowRig('login');
  const until = rig.clock.now() + 600_000;
  const expiring = rejectFrom(rig, until);
  const handle = await start(rig, expiring);
  const left = await rig.go(handle.finished);
  expect(left).toMatchObject({
    status: 'suspended',
    message: expect.stringContaining('resume the run with a valid login'),
  });
  expect(rig.events.filter(({ type }) => type === 'warning')).toMatchObject([
    { message: expect.stringContaining('the token has run out') },
  ]);
  expect(rig.clock.now() - until).toBeGreaterThanOrEqual(60_000);
  const report = await resume(rig, handle.runId);
  expect(report).toMatchObject({ status: 'succeeded', failures: [] });
  expect(rig.created()).toHaveLength(3);
});

/** The rig's service, whose token runs out. */
function rejectFrom(rig: Rig, until: number): ContainerService {
  const { service } = rig.options;
  const check = () => {
    if (rig.clock.now() >= until) throw new ServiceError('UNAUTHENTICATED', 'the token has run out', { status: 401 });
  };
  return {
    ...service,
    containers: {
      ...service.containers,
      async get(...given) {
        check();
        return service.containers.get(...given);
      },
      async create(...given) {
        check();
        return service.containers.create(...given);
      },
    },
  };
}
