import type { ContainerService } from '@sluice/client';
import { type Disk, listRuns } from '@sluice/home';
import { describeStatus, type RunnerEvent, type RunReport } from '@sluice/run';
import { describe, expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import type { RunHandle } from '../../src/session/run-options.ts';
import { createRig, type Rig } from '../simulation/rig.ts';

const need = (step: string) => ({ step, condition: 'succeeded' as const });

const DIAMOND = createHandPlan([
  createStep('a', { command: ['true'] }),
  createStep('b', { command: ['true'], needs: [need('a')] }),
  createStep('c', { command: ['true'], needs: [need('a')] }),
  createStep('d', { command: ['true'], needs: [need('b'), need('c')] }),
]);

async function start(rig: Rig, plan = DIAMOND): Promise<RunHandle> {
  const started = await rig.go(startRun({ ...rig.options, plan, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  return started.value;
}

async function finish(rig: Rig, handle: RunHandle): Promise<RunReport> {
  return rig.go(handle.finished);
}

const states = (report: RunReport) => Object.fromEntries(report.steps.map((step) => [step.step, describeStatus(step)]));

describe('startRun', () => {
  test('runs the steps of a diamond in order, one container each', async () => {
    const rig = createRig('diamond');
    const handle = await start(rig);
    const report = await finish(rig, handle);
    expect(report.status).toBe('succeeded');
    expect(states(report)).toEqual({ a: 'succeeded', b: 'succeeded', c: 'succeeded', d: 'succeeded' });
    const order = rig.created().map(({ wire }) => wire.labels?.['sluice-step']);
    expect([order[0], order.slice(1, 3).sort(), order[3]]).toEqual(['a', ['b', 'c'], 'd']);
  });

  test.each([
    ['was not written yet', undefined],
    ['is damaged', '{'],
  ])('is listed from its journal if its summary %s', async (_what, content) => {
    const rig = createRig('without-summary');
    const handle = await start(rig);
    const summary = `/home/runs/${handle.runId}/summary.json`;
    const known = async () => (await rig.go(listRuns('/home', rig.disk))).map(({ counts: _counts, ...run }) => run);
    const breakSummary = () =>
      content === undefined ? rig.disk.remove(summary) : rig.disk.replace(summary, Buffer.from(content));
    await rig.until(() => rig.created().length === 1);
    const running = await known();
    expect(running).toMatchObject([{ runId: handle.runId, pipeline: 'hand', status: 'running' }]);
    await breakSummary();
    expect(await known()).toEqual(running);
    await finish(rig, handle);
    const ended = await known();
    await breakSummary();
    expect(await known()).toEqual(ended);
  });

  test('goes by polling alone where the service gives no hints', async () => {
    const rig = createRig('polling', { hints: false });
    const report = await finish(rig, await start(rig));
    expect(report.status).toBe('succeeded');
    expect(rig.created()).toHaveLength(4);
  });

  test('tells the reporter of every cell until its end', async () => {
    const rig = createRig('events');
    await finish(rig, await start(rig));
    const ends = rig.events.filter(
      (event): event is Extract<RunnerEvent, { type: 'cellChanged' }> => event.type === 'cellChanged',
    );
    expect(ends.filter((event) => event.status === 'succeeded').map((event) => event.step)).toEqual([
      'a',
      'b',
      'c',
      'd',
    ]);
    expect(rig.events.at(-1)).toMatchObject({ type: 'runFinished', report: { status: 'succeeded' } });
  });

  test('numbers the events of each process that executes the run from 1', async () => {
    const rig = createRig('numbers');
    const first = await start(rig);
    await rig.until(() => rig.created().length > 0);
    await rig.go(first.suspend());
    const { runId } = first;
    const isCounted = (events: readonly RunnerEvent[]) =>
      events.every((event, index) => event.runId === runId && event.seq === index + 1);
    const before = rig.events.splice(0);
    expect(before.at(-1)?.seq).toBe(before.length);
    expect(isCounted(before)).toBe(true);
    const resumed = await rig.go(resumeRun({ ...rig.options, runId }));
    if (!resumed.ok) throw new Error(resumed.error.message);
    await rig.go(resumed.value.finished);
    expect(rig.events[0]).toMatchObject({ type: 'runStarted', resumed: true, seq: 1 });
    expect(rig.events.at(-1)).toMatchObject({ type: 'runFinished' });
    expect(isCounted(rig.events)).toBe(true);
  });

  test('fails with the exit code and the end of the log', async () => {
    const rig = createRig('failing', { behave: { b: { end: 'Failed', exitCode: 3 } } });
    const report = await finish(rig, await start(rig));
    expect(report.status).toBe('failed');
    expect(states(report)).toMatchObject({ b: 'failed', d: 'skipped' });
    expect(report.failures).toMatchObject([{ step: 'b', reason: 'failed', exitCode: 3, message: 'exit code 3' }]);
    expect(report.failures[0]?.logTail.at(-1)).toBe('its last line');
  });

  test('tries a failed step again under the ID of the next attempt', async () => {
    const plan = createHandPlan([createStep('a', { retry: { ...createStep('a').retry, limit: 2 } })]);
    const rig = createRig('retry', { behave: { a: { end: 'Failed', exitCode: 1 } } });
    const report = await finish(rig, await start(rig, plan));
    expect(report.status).toBe('failed');
    expect(rig.created().map(({ wire }) => wire.id.slice(-2))).toEqual(['-1', '-2', '-3']);
  });
});

describe('resumeRun', () => {
  test('goes on where a suspended run was left, and starts nothing twice', async () => {
    const rig = createRig('suspend');
    const first = await start(rig);
    await rig.until(() => rig.created().length === 3);
    await rig.go(first.suspend());
    expect(await finish(rig, first)).toMatchObject({ status: 'suspended' });
    const resumed = await rig.go(resumeRun({ ...rig.options, runId: first.runId }));
    if (!resumed.ok) throw new Error(resumed.error.message);
    const report = await finish(rig, resumed.value);
    expect(report.status).toBe('succeeded');
    expect(rig.created()).toHaveLength(4);
  });

  test.each(['report.json', 'summary.json', 'pools/'])(
    'ends as it ended although the disk takes no %s, and a resume keeps what was not kept',
    async (name) => {
      const rig = createRig('full-at-the-end');
      const plan = createHandPlan([createStep('a', { pools: { gpu: 1 } })], { pools: { gpu: 1 } });
      const reject = (path: string) => {
        const journal = [...rig.disk.files].find(([file]) => file.endsWith('/journal.ndjson'));
        if (!path.includes(name) || !Buffer.from(journal?.[1] ?? '').includes('"finished"')) return;
        throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      };
      const disk: Disk = {
        ...rig.disk,
        replace: async (path, bytes) => {
          reject(path);
          await rig.disk.replace(path, bytes);
        },
        create: async (path, bytes) => {
          reject(path);
          return rig.disk.create(path, bytes);
        },
      };
      const started = await rig.go(startRun({ ...rig.options, disk, plan, baseDir: '/base' }));
      if (!started.ok) throw new Error(started.error.message);
      expect(await rig.go(started.value.finished)).toMatchObject({ status: 'succeeded' });
      expect(rig.events.filter(({ type }) => type === 'warning' || type === 'runFinished')).toMatchObject([
        { message: expect.stringContaining('no space left on device') },
        { type: 'runFinished' },
      ]);
      const { runId } = started.value;
      const resumed = await rig.go(resumeRun({ ...rig.options, runId }));
      // The pools are freed beside the end, and their failure leaves nothing out of it.
      if (name === 'pools/') return expect(resumed).toMatchObject({ error: { code: 'RUN_FINISHED' } });
      if (!resumed.ok) throw new Error(resumed.error.message);
      const report = await resumed.value.finished;
      expect(report).toMatchObject({ runId, status: 'succeeded', steps: [{ step: 'a', status: 'succeeded' }] });
      expect(rig.events.at(-1)).toMatchObject({ type: 'runFinished', report: { status: 'succeeded' } });
      const { files } = rig.disk;
      expect([...files.keys()].filter((file) => file.endsWith('/report.json'))).toHaveLength(1);
      expect(await listRuns('/home', rig.disk)).toMatchObject([{ runId, status: 'succeeded' }]);
      expect(await rig.go(resumeRun({ ...rig.options, runId }))).toMatchObject({ error: { code: 'RUN_FINISHED' } });
    },
  );

  test.each([1, 2, 3, 4, 5, 6])(
    'is left, and ends nothing else, when its lease cannot be read the %s. time',
    async (nth) => {
      const rig = createRig('no-more-files', { behave: { a: { runMs: 60_000 } }, hints: false });
      let reads = 0;
      const readNow: Disk['readNow'] = (path) => {
        if (++reads === nth) throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
        return rig.disk.readNow(path);
      };
      const plan = createHandPlan([createStep('a')]);
      const started = await rig.go(
        startRun({ ...rig.options, disk: { ...rig.disk, readNow }, plan, baseDir: '/base' }),
      );
      if (!started.ok) throw new Error(started.error.message);
      expect(await rig.go(started.value.finished)).toMatchObject({
        status: 'suspended',
        message: expect.stringContaining('too many open files'),
      });
    },
  );

  test('leaves nothing behind in the process when the cache of the home cannot be read', async () => {
    const rig = createRig('no-cache');
    let watching = 0;
    const service: ContainerService = {
      ...rig.options.service,
      watch(listener) {
        const stop = rig.options.service.watch(listener);
        watching++;
        return () => {
          watching--;
          stop?.();
        };
      },
    };
    const read: Disk['read'] = async (path) => {
      if (path.endsWith('cache.ndjson')) throw Object.assign(new Error('permission denied'), { code: 'EACCES' });
      return rig.disk.read(path);
    };
    const plan = createHandPlan([createStep('a', { cache: { ignore: [] }, command: ['true'] })]);
    const started = startRun({ ...rig.options, service, disk: { ...rig.disk, read }, plan, baseDir: '/base' });
    expect(await rig.go(started)).toMatchObject({ error: { code: 'HOME_UNUSABLE' } });
    expect(watching).toBe(0);
  });

  test('rejects a run that is over, and one that is not there', async () => {
    const rig = createRig('over');
    const handle = await start(rig);
    await finish(rig, handle);
    const over = await rig.go(resumeRun({ ...rig.options, runId: handle.runId }));
    expect(over).toMatchObject({ ok: false, error: { code: 'RUN_FINISHED' } });
    const absent = await rig.go(resumeRun({ ...rig.options, runId: 'aaaaaaaaaaaaa' }));
    expect(absent).toMatchObject({ ok: false, error: { code: 'RUN_NOT_FOUND' } });
  });
});
