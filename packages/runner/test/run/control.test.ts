import { ServiceError } from '@sluice/client';
import { type Disk, listRuns, readRun } from '@sluice/home';
import { describe, expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { approveRun } from '../../src/run/approve-run.ts';
import { cancelRun } from '../../src/run/cancel-run.ts';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun, submitRun } from '../../src/run/start-run.ts';
import { suspendRun } from '../../src/run/suspend-run.ts';
import { RESUMING } from '../../src/session/control-run.ts';
import type { RunHandle } from '../../src/session/run-options.ts';
import { createRig, type Rig } from '../simulation/rig.ts';

const need = (step: string) => ({ step, condition: 'succeeded' as const });

async function start(rig: Rig, plan: ReturnType<typeof createHandPlan>): Promise<RunHandle> {
  const started = await rig.go(startRun({ ...rig.options, plan, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  return started.value;
}

const SLOW = createHandPlan([createStep('slow'), createStep('after', { needs: [need('slow')] })]);
const slowRig = (seed: string) => createRig(seed, { behave: { slow: { runMs: 3_600_000 } } });

describe('cancelRun', () => {
  test('cancels what runs, through the handle', async () => {
    const rig = slowRig('cancel');
    const handle = await start(rig, SLOW);
    await rig.until(() => rig.created().some(({ wire }) => wire.phase === 'Running'));
    handle.cancel('a test');
    const report = await rig.go(handle.finished);
    expect(report).toMatchObject({ status: 'canceled', message: 'canceled by a test' });
    expect(rig.created().map(({ wire }) => wire.phase)).toEqual(['Canceled']);
  });

  test('asks the process that executes the run', async () => {
    const rig = slowRig('tell');
    const handle = await start(rig, SLOW);
    await rig.until(() => rig.created().length === 1);
    const told = await rig.go(cancelRun({ ...rig.options, runId: handle.runId.slice(0, 6), by: 'another process' }));
    expect(told).toEqual({ ok: true, value: undefined });
    expect(await rig.go(handle.finished)).toMatchObject({ status: 'canceled' });
  });

  test('resumes a run that no process executes, and cancels it', async () => {
    const rig = slowRig('revive');
    const handle = await start(rig, SLOW);
    await rig.until(() => rig.created().length === 1);
    await rig.go(handle.suspend());
    const canceled = await rig.go(cancelRun({ ...rig.options, runId: handle.runId, by: 'a test' }));
    expect(canceled).toMatchObject({ ok: true, value: { status: 'canceled' } });
    expect(rig.created().map(({ wire }) => wire.phase)).toEqual(['Canceled']);
  });

  test('waits while the run is being resumed', async () => {
    const rig = slowRig('resuming');
    const handle = await start(rig, SLOW);
    await rig.until(() => rig.created().length === 1);
    const disk = rig.options.disk!;
    let asked = 0;
    const ask: Disk['ask'] = async (directory, line) => {
      asked += 1;
      return asked <= 3 ? RESUMING : disk.ask(directory, line);
    };
    const busy = Object.create(disk, { ask: { value: ask } }) as Disk;
    expect(await rig.go(cancelRun({ ...rig.options, disk: busy, runId: handle.runId, by: 'a test' }))).toMatchObject({
      ok: true,
    });
    expect(asked).toBe(4);
    expect(await rig.go(handle.finished)).toMatchObject({ status: 'canceled' });
  });

  test.each(['files.write', 'files.move'] as const)(
    'ends what waits for a volume that takes nothing: %s',
    async (call) => {
      const rig = createRig('full-volume', {});
      const { volumes } = rig.options.service;
      const reject = async () => {
        throw new ServiceError('UNAVAILABLE', 'the volume is full', { status: 507 });
      };
      const files: typeof volumes.files = (ref, login) => ({
        ...volumes.files(ref, login),
        [call.slice('files.'.length)]: reject,
      });
      const service = { ...rig.options.service, volumes: { ...volumes, files } };
      const plan = createHandPlan([
        createStep('fit', {
          matrix: { axes: { seed: [1, 2] }, include: [], exclude: [] },
          outputs: { model: { path: '/model', retain: true } },
        }),
        createStep('select', { inputs: { models: { from: { step: 'fit', output: 'model' }, path: '/in' } } }),
      ]);
      const started = await rig.go(startRun({ ...rig.options, service, plan, baseDir: '/base' }));
      if (!started.ok) throw new Error(started.error.message);
      await rig.until(() => rig.events.some(({ type }) => type === 'warning'));
      const begun = rig.clock.now();
      started.value.cancel('a test');
      expect(await rig.go(started.value.finished)).toMatchObject({ status: 'canceled' });
      expect(rig.clock.now() - begun).toBeLessThan(120_000);
    },
  );
});

describe('suspendRun', () => {
  test('makes the process that executes a run leave it, so that another one can resume it', async () => {
    const rig = slowRig('suspend');
    const handle = await start(rig, SLOW);
    await rig.until(() => rig.created().length === 1);
    expect(await rig.go(suspendRun({ ...rig.options, runId: handle.runId }))).toEqual({ ok: true, value: true });
    expect(await rig.go(handle.finished)).toMatchObject({ status: 'suspended' });
    const resumed = await rig.go(resumeRun({ ...rig.options, runId: handle.runId }));
    if (!resumed.ok) throw new Error(resumed.error.message);
    expect(await rig.go(resumed.value.finished)).toMatchObject({ status: 'succeeded' });
    expect(rig.created()).toHaveLength(2);
  });

  test('reports that no process executes the run', async () => {
    const rig = slowRig('left');
    const handle = await start(rig, SLOW);
    await rig.go(handle.suspend());
    expect(await rig.go(suspendRun({ ...rig.options, runId: handle.runId }))).toEqual({ ok: true, value: false });
  });
});

describe('submitRun', () => {
  test('records a run without starting anything, which a resume then executes', async () => {
    const rig = createRig('submit');
    const submitted = await rig.go(submitRun({ ...rig.options, plan: SLOW, baseDir: '/base' }));
    if (!submitted.ok) throw new Error(submitted.error.message);
    const { runId } = submitted.value;
    expect(await rig.go(listRuns('/home', rig.disk))).toMatchObject([{ runId, status: 'suspended' }]);
    expect(rig.created()).toEqual([]);
    const resumed = await rig.go(resumeRun({ ...rig.options, runId }));
    if (!resumed.ok) throw new Error(resumed.error.message);
    expect(await rig.go(resumed.value.finished)).toMatchObject({ status: 'succeeded' });
    expect(rig.created()).toHaveLength(2);
  });

  test('a full disk is a rejection', async () => {
    const rig = createRig('submit-full', {});
    rig.disk.room = 0;
    const submitted = await rig.go(submitRun({ ...rig.options, plan: SLOW, baseDir: '/base' }));
    expect(submitted).toMatchObject({ ok: false, error: { code: 'HOME_UNUSABLE' } });
  });
});

describe('approveRun', () => {
  const plan = createHandPlan([
    createStep('ask', { approval: { message: 'shall it go on?' } }),
    createStep('after', { needs: [need('ask')] }),
  ]);

  test('lets a waiting step go on', async () => {
    const rig = createRig('approve');
    const handle = await start(rig, plan);
    await rig.until(() => rig.events.some((event) => event.type === 'approvalAsked'));
    const answer = { runId: handle.runId, step: 'ask', approved: true, by: 'a test' };
    expect(await rig.go(approveRun('/home', answer, rig))).toMatchObject({ ok: true });
    expect(await rig.go(handle.finished)).toMatchObject({ status: 'succeeded' });
    expect(rig.created()).toHaveLength(1);
  });

  test('is kept for a run that has been left because it only waits for a person', async () => {
    const rig = createRig('left');
    const started = await rig.go(startRun({ ...rig.options, plan, baseDir: '/base', leavesForPeople: true }));
    if (!started.ok) throw new Error(started.error.message);
    const left = await rig.go(started.value.finished);
    expect(left).toMatchObject({ status: 'suspended', message: expect.stringContaining('wait for approval') });
    const answer = { runId: left.runId, step: 'ask', approved: true, by: 'a test' };
    expect(await rig.go(approveRun('/home', answer, rig))).toEqual({ ok: true, value: { isApplied: false } });
    expect(await rig.go(approveRun('/home', answer, rig))).toMatchObject({ error: { code: 'NOT_ASKED' } });
    const resumed = await rig.go(resumeRun({ ...rig.options, runId: left.runId, leavesForPeople: true }));
    if (!resumed.ok) throw new Error(resumed.error.message);
    expect(await rig.go(resumed.value.finished)).toMatchObject({ status: 'succeeded' });
    expect(rig.created()).toHaveLength(1);
  });

  test('takes the first of two answers that come together', async () => {
    const rig = createRig('two-answers');
    const withContainer = createHandPlan([createStep('ask', { approval: { message: 'go on?' }, command: ['true'] })]);
    const handle = await start(rig, withContainer);
    await rig.until(() => rig.events.some((event) => event.type === 'approvalAsked'));
    const said = [true, false].map((approved) => handle.approve('ask', { approved, by: 'a test' }));
    expect(said).toEqual([true, false]);
    expect(await rig.go(handle.finished)).toMatchObject({ status: 'succeeded' });
  });

  test('comes too late for a run that was left and has run out of its time to wait', async () => {
    const rig = createRig('too-late');
    const timed = createHandPlan([createStep('ask', { approval: { message: 'go on?', timeoutMs: 60_000 } })]);
    const started = await rig.go(startRun({ ...rig.options, plan: timed, baseDir: '/base', leavesForPeople: true }));
    if (!started.ok) throw new Error(started.error.message);
    const { runId } = await rig.go(started.value.finished);
    await rig.go(rig.clock.delay(61_000));
    const answer = { runId, step: 'ask', approved: true, by: 'a test' };
    expect(await rig.go(approveRun('/home', answer, rig))).toMatchObject({ error: { code: 'NOT_ASKED' } });
    const resumed = await rig.go(resumeRun({ ...rig.options, runId }));
    if (!resumed.ok) throw new Error(resumed.error.message);
    expect(await rig.go(resumed.value.finished)).toMatchObject({ status: 'failed' });
  });

  test('says that no step waits', async () => {
    const rig = slowRig('nobody');
    const handle = await start(rig, SLOW);
    await rig.until(() => rig.created().length === 1);
    const answer = { runId: handle.runId, step: 'slow', approved: true, by: 'a test' };
    expect(await rig.go(approveRun('/home', answer, rig))).toMatchObject({ error: { code: 'NOT_ASKED' } });
    await rig.go(handle.suspend());
    expect(await rig.go(approveRun('/home', answer, rig))).toMatchObject({ error: { code: 'NOT_ASKED' } });
  });
});

describe('listRuns and readRun', () => {
  test('tell active, suspended and finished runs apart', async () => {
    const rig = slowRig('list');
    const first = await start(rig, SLOW);
    await rig.until(() => rig.created().length === 1);
    const status = async () => (await rig.go(listRuns('/home', rig.disk))).map((run) => run.status);
    expect(await status()).toEqual(['running']);
    await rig.go(first.suspend());
    expect(await status()).toEqual(['suspended']);
    expect(await rig.go(readRun('/home', first.runId, rig.disk))).toMatchObject({
      ok: true,
      value: { status: 'suspended', steps: [{ step: 'slow' }, { step: 'after', status: 'waiting' }] },
    });
    const resumed = await rig.go(resumeRun({ ...rig.options, runId: first.runId }));
    if (!resumed.ok) throw new Error(resumed.error.message);
    await rig.go(resumed.value.finished);
    expect(await status()).toEqual(['succeeded']);
  });

  test('leave out what a crash left of a run before its first record, which cannot be resumed', async () => {
    const rig = slowRig('unborn');
    const handle = await start(rig, SLOW);
    await rig.go(handle.suspend());
    const inRun = (name: string) => `/home/runs/${handle.runId}/${name}`;
    rig.disk.files.delete(inRun('summary.json'));
    expect(await rig.go(listRuns('/home', rig.disk))).toMatchObject([{ pipeline: 'hand', status: 'suspended' }]);
    rig.disk.files.set(inRun('plan.json'), Buffer.from('{'));
    expect(await rig.go(listRuns('/home', rig.disk))).toMatchObject([{ problem: expect.stringMatching('summary') }]);
    rig.disk.files.delete(inRun('journal.ndjson'));
    expect(await rig.go(listRuns('/home', rig.disk))).toEqual([]);
  });
});
