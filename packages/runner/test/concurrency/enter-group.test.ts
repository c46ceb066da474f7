import { ServiceError } from '@sluice/client';
import { listRuns, parseJournal, replaceGroup } from '@sluice/home';
import { describe, expect, test } from 'vitest';
import { planOf } from '../../../core/test/plan/plan-of.ts';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { requestCancel } from '../../src/run/cancel-run.ts';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun, submitRun } from '../../src/run/start-run.ts';
import { suspendRun } from '../../src/run/suspend-run.ts';
import type { RunHandle } from '../../src/session/run-options.ts';
import { killedAfter } from '../simulation/killed-after.ts';
import { createRig, type Rig } from '../simulation/rig.ts';

const CONCURRENCY = { group: 'nightly', limit: 1, overlap: 'queue' } as const;
const grouped = (overlap: 'queue' | 'replace' | 'fail') =>
  createHandPlan([createStep('slow')], { concurrency: { ...CONCURRENCY, overlap } });
async function open(rig: Rig, overlap: 'queue' | 'replace' | 'fail'): Promise<RunHandle> {
  const started = await rig.go(startRun({ ...rig.options, plan: grouped(overlap), baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  return started.value;
}

function hasFirstRecord({ disk }: Rig, runId: string): boolean {
  const journal = parseJournal(disk.files.get(`/home/runs/${runId}/journal.ndjson`) ?? new Uint8Array());
  return journal.ok && journal.value.records.some(({ kind }) => kind === 'run');
}

const slow = { behave: { slow: { runMs: 600_000 } } };

describe('startRun with a concurrency group', () => {
  test('rejects a second run at once with `fail`, and takes it when the first is over', async () => {
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
    const start = () => rig.go(startRun({ ...rig.options, plan: grouped('replace'), baseDir: '/base' }));
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
    const start = () => rig.go(startRun({ ...options, plan: grouped('replace'), baseDir: '/base' }));
    const first = await start();
    if (!first.ok) throw new Error(first.error.message);
    await rig.until(() => rig.created().some(({ wire }) => wire.phase === 'Running'));
    await rig.go(first.value.suspend());
    away = true;
    const resuming = resumeRun({ ...options, runId: first.value.runId });
    await rig.go(rig.clock.delay(1000));
    const begun = rig.clock.now();
    const second = startRun({ ...options, plan: grouped('replace'), baseDir: '/base' });
    await rig.go(rig.clock.delay(1000));
    away = false;
    expect(await rig.go(second)).toMatchObject({ ok: true });
    expect(rig.clock.now() - begun).toBeLessThan(60_000);
    const resumed = await rig.go(resuming);
    expect(resumed.ok && (await rig.go(resumed.value.finished))).toMatchObject({ status: 'canceled' });
  });

  test.each(['fail', 'queue'] as const)(
    'keeps others out beside the containers of a run that was left (%s)',
    async (overlap) => {
      const rig = createRig(`group-left-${overlap}`, slow);
      const first = await open(rig, overlap);
      await rig.until(() => rig.created().some(({ wire }) => wire.phase === 'Running'));
      await rig.go(first.suspend());
      const second = startRun({ ...rig.options, plan: grouped(overlap), baseDir: '/base' });
      if (overlap === 'fail') {
        const message = expect.stringContaining(`no process is executing run ${first.runId}`);
        expect(await rig.go(second)).toMatchObject({ ok: false, error: { code: 'GROUP_BUSY', message } });
      } else {
        expect(await rig.go(second)).toMatchObject({ ok: true });
      }
      const [container, ...others] = rig.created();
      if (overlap === 'queue') expect(container!.wire.phase).toBe('Succeeded');
      expect(others).toHaveLength(0);
    },
  );

  test('gives the place of a run that was left to another when its containers have ended, and has it wait then', async () => {
    const rig = createRig('group-idle', slow);
    const first = await open(rig, 'queue');
    await rig.until(() => rig.created().some(({ wire }) => wire.phase === 'Running'));
    await rig.go(first.suspend());
    await rig.go(rig.clock.delay(700_000));
    const second = await open(rig, 'queue');
    await rig.until(() => rig.created().length === 2);
    const resumed = resumeRun({ ...rig.options, runId: first.runId });
    let isResumed = false;
    void resumed.then(() => {
      isResumed = true;
    });
    await rig.go(second.finished.then(() => expect(isResumed).toBe(false)));
    const again = await rig.go(resumed);
    expect(again.ok && (await rig.go(again.value.finished))).toMatchObject({ status: 'succeeded' });
  });

  test('does not resume a run beside another one with `fail`', async () => {
    const rig = createRig('group-rejected', slow);
    const first = await open(rig, 'fail');
    await rig.until(() => rig.created().some(({ wire }) => wire.phase === 'Running'));
    await rig.go(first.suspend());
    await rig.go(rig.clock.delay(700_000));
    const second = await open(rig, 'fail');
    const resume = () => rig.go(resumeRun({ ...rig.options, runId: first.runId }));
    expect(await resume()).toMatchObject({ ok: false, error: { code: 'GROUP_BUSY' } });
    await rig.go(second.finished);
    expect(await resume()).toMatchObject({ ok: true });
  });

  test('lets a run that was left go on in its place', async () => {
    const rig = createRig('group-resumed', slow);
    const first = await open(rig, 'fail');
    await rig.until(() => rig.created().some(({ wire }) => wire.phase === 'Running'));
    await rig.go(first.suspend());
    const resumed = await rig.go(resumeRun({ ...rig.options, runId: first.runId }));
    expect(resumed).toMatchObject({ ok: true });
    const second = () => rig.go(startRun({ ...rig.options, plan: grouped('fail'), baseDir: '/base' }));
    expect(await second()).toMatchObject({ error: { code: 'GROUP_BUSY' } });
    expect(await rig.go(resumeRun({ ...rig.options, runId: first.runId }))).toMatchObject({
      error: { code: 'RUN_IN_USE' },
    });
    expect(await second()).toMatchObject({ error: { code: 'GROUP_BUSY' } });
  });

  test.each([0, 700_000])('cancels with `cancel` also a run that was left %s ms before', async (ms) => {
    const rig = createRig('group-cancel-left', slow);
    const first = await open(rig, 'replace');
    await rig.until(() => rig.created().some(({ wire }) => wire.phase === 'Running'));
    await rig.go(first.suspend());
    await rig.go(rig.clock.delay(ms));
    await open(rig, 'replace');
    const runs = await listRuns('/home', rig.disk);
    const status = ms === 0 ? 'canceled' : 'succeeded';
    expect(runs.find(({ runId }) => runId === first.runId)).toMatchObject({ status });
  });

  test.each(['executed', 'left'])(
    'lets a run that is %s finish its `finally` steps, however long they take',
    async (state) => {
      const rig = createRig(`group-finally-${state}`, {
        behave: { slow: { runMs: 600_000 }, clean: { runMs: 60_000 } },
      });
      const plan = planOf(`concurrency: { group: nightly, limit: 1, overlap: replace }
steps: { slow: { image: i, command: [slow] } }
finally: { clean: { image: i, command: [clean] } }`);
      const start = () => rig.go(startRun({ ...rig.options, plan, baseDir: '/base' }));
      const first = await start();
      if (!first.ok) throw new Error(first.error.message);
      await rig.until(() => rig.created().some(({ wire }) => wire.phase === 'Running'));
      if (state === 'left') await rig.go(first.value.suspend());
      expect(await start()).toMatchObject({ ok: true });
      const phases = rig.created().map(({ wire }) => [wire.labels?.['sluice-step'], wire.phase]);
      expect(phases.slice(0, 2)).toEqual([
        ['slow', 'Canceled'],
        ['clean', 'Succeeded'],
      ]);
    },
  );

  test('leaves to the option `cancelLeft` how a run is canceled that was left', async () => {
    const rig = createRig('group-cancel-elsewhere', slow);
    const first = await open(rig, 'replace');
    await rig.until(() => rig.created().some(({ wire }) => wire.phase === 'Running'));
    await rig.go(first.suspend());
    const asked: string[][] = [];
    const cancelLeft = async (runId: string, by: string) => {
      asked.push([runId, by]);
      // Later than it is asked again.
      await rig.clock.delay(30_000);
      const canceled = await resumeRun({ ...rig.options, runId, cancelBy: 'the host' });
      if (canceled.ok) await canceled.value.finished;
    };
    const plan = grouped('replace');
    const second = await rig.go(startRun({ ...rig.options, cancelLeft, plan, baseDir: '/base' }));
    if (!second.ok) throw new Error(second.error.message);
    expect(asked[0]).toEqual([first.runId, `run ${second.value.runId} of group nightly`]);
    expect(new Set(asked.map(([runId]) => runId))).toEqual(new Set([first.runId]));
    const runs = await listRuns('/home', rig.disk);
    expect(runs.find(({ runId }) => runId === first.runId)).toMatchObject({ status: 'canceled' });
  });

  test('is a queue: first in, first out, and who has gone does not stand in it', async () => {
    const rig = createRig('group-order', { behave: { slow: { runMs: 60_000 } } });
    const first = await open(rig, 'queue');
    const order: string[] = [];
    const waiting = [];
    const gone = rig.process();
    for (const runId of ['bbbbbbbbbbbbb', 'ccccccccccccc', 'ddddddddddddd', 'eeeeeeeeeeeee', 'fffffffffffff']) {
      const options = runId.startsWith('c') ? { ...rig.options, clock: gone.clock, disk: gone.disk } : rig.options;
      const started = startRun({ ...options, runId, plan: grouped('queue'), baseDir: '/base' });
      if (!runId.startsWith('c')) waiting.push(started.then(() => order.push(runId[0]!)));
      await rig.go(rig.clock.delay(700));
    }
    gone.kill();
    await rig.go(first.finished);
    await rig.go(Promise.all(waiting));
    expect(order).toEqual(['b', 'd', 'e', 'f']);
  });

  test('has room for a run that never began', async () => {
    const rig = createRig('group-never', slow);
    const entry = { group: 'nightly', runId: 'ggggggggggggg', state: 'in', turn: 1 } as const;
    await replaceGroup({ ...rig.options, clock: rig.clock, disk: rig.disk }, 'nightly', { from: [], to: [entry] });
    expect(await open(rig, 'fail')).toBeDefined();
  });

  test('has room for a run that was killed before its first record, also if the service cannot tell', async () => {
    const runId = 'hhhhhhhhhhhhh';
    // The cells of `slow` are unknown until the run decides them, so its containers cannot be queried one by one.
    const foreach = [1];
    const plan = createHandPlan([createStep('slow', { foreach })], { concurrency: CONCURRENCY });
    const seen = new Set<string>();
    for (let operation = 1; operation <= 40; operation++) {
      const rig = createRig(`group-killed ${operation}`, { ...slow, dialect: { list: 500 } });
      const process = killedAfter(rig, operation);
      const options = { ...rig.options, clock: process.clock, disk: process.disk, runId };
      await rig.go(
        Promise.race([startRun({ ...options, plan, baseDir: '/base' }).then(() => undefined), process.died]),
      );
      process.kill();
      const has = (name: string) => rig.disk.files.has(`/home/runs/${runId}/${name}`);
      if (has('summary.json') || hasFirstRecord(rig, runId)) continue;
      seen.add(['lease.json', 'plan.json'].filter(has).join(' and '));
      expect(await open(rig, 'fail'), `operation ${operation}`).toBeDefined();
    }
    expect([...seen].sort()).toEqual(['', 'lease.json', 'lease.json and plan.json']);
  });

  test('keeps the place of a run whose directory is lost, if the service cannot tell', async () => {
    const rig = createRig('group-lost', { ...slow, dialect: { list: 500 } });
    const first = await open(rig, 'queue');
    await rig.go(first.suspend());
    for (const file of [...rig.disk.files.keys()]) if (file.includes(first.runId)) rig.disk.files.delete(file);
    const second = await rig.go(startRun({ ...rig.options, plan: grouped('fail'), baseDir: '/base' }));
    expect(second).toMatchObject({ error: { code: 'GROUP_BUSY' } });
  });
});

describe('a recorded run that waits for its group', () => {
  /** One run has the place; another is recorded and resumed, and waits. */
  async function wait(rig: Rig, options: { readonly signal?: AbortSignal } = {}) {
    const first = await open(rig, 'queue');
    const submitted = await rig.go(submitRun({ ...rig.options, plan: grouped('queue'), baseDir: '/base' }));
    if (!submitted.ok) throw new Error(submitted.error.message);
    const { runId } = submitted.value;
    const statusOf = async () => (await listRuns('/home', rig.disk)).find((run) => run.runId === runId)?.status;
    expect(await statusOf()).toBe('suspended');
    const resumed = resumeRun({ ...rig.options, runId, ...options });
    await rig.go(rig.clock.delay(1000));
    return { first, runId, statusOf, resumed };
  }

  test('is listed as waiting until it has its place', async () => {
    const rig = createRig('waiting-listed', slow);
    const { first, statusOf, resumed } = await wait(rig);
    expect(await statusOf()).toBe('waiting');
    await rig.go(first.finished);
    const handle = await rig.go(resumed);
    expect(await statusOf()).toBe('running');
    expect(handle.ok && (await rig.go(handle.value.finished))).toMatchObject({ status: 'succeeded' });
    expect(await statusOf()).toBe('succeeded');
  });

  test('is started when it has its place, in the list and in the report', async () => {
    const rig = createRig('waiting-times', slow);
    const { first, runId, resumed } = await wait(rig);
    const listed = async () => (await listRuns('/home', rig.disk)).find((run) => run.runId === runId)!;
    const waiting = await listed();
    expect(waiting.startedAt).toBeUndefined();
    const { endedAt } = await rig.go(first.finished);
    const handle = await rig.go(resumed);
    const { createdAt, startedAt } = await listed();
    expect(createdAt).toBe(waiting.createdAt);
    expect(startedAt).toBeGreaterThanOrEqual(endedAt!);
    const report = handle.ok && (await rig.go(handle.value.finished));
    expect(report).toMatchObject({ createdAt, startedAt });
    expect(await listed()).toMatchObject({ createdAt, startedAt });
  });

  test('is canceled at once by the process that waits', async () => {
    const rig = createRig('waiting-canceled', slow);
    const { first, runId, statusOf, resumed } = await wait(rig);
    const { clock, disk } = rig;
    const canceled = await rig.go(requestCancel({ home: '/home', runId, by: 'ada', clock, disk }));
    expect(canceled).toMatchObject({ ok: true, value: { isExecuted: true } });
    const handle = await rig.go(resumed);
    expect(handle.ok && (await rig.go(handle.value.finished))).toMatchObject({ status: 'canceled' });
    expect(await statusOf()).toBe('canceled');
    expect(rig.created()).toHaveLength(1);
    expect(await rig.go(first.finished)).toMatchObject({ status: 'succeeded' });
  });

  test.each(['request', 'signal'])('is left by %s, and another process resumes it', async (how) => {
    const rig = createRig(`waiting-left-${how}`, slow);
    const leaving = new AbortController();
    const { first, runId, statusOf, resumed } = await wait(rig, { signal: leaving.signal });
    const { clock, disk } = rig;
    if (how === 'signal') leaving.abort();
    else expect(await rig.go(suspendRun({ home: '/home', runId, clock, disk }))).toEqual({ ok: true, value: true });
    expect(await rig.go(resumed)).toMatchObject({ ok: false, error: { code: 'RUN_IN_USE' } });
    expect(await statusOf()).toBe('suspended');
    await rig.go(first.finished);
    const again = await rig.go(resumeRun({ ...rig.options, runId }));
    expect(again.ok && (await rig.go(again.value.finished))).toMatchObject({ status: 'succeeded' });
  });
});

describe('a run that is resumed with `replace`', () => {
  async function submit(rig: Rig, overlap: 'queue' | 'replace'): Promise<string> {
    const submitted = await rig.go(submitRun({ ...rig.options, plan: grouped(overlap), baseDir: '/base' }));
    if (!submitted.ok) throw new Error(submitted.error.message);
    await rig.go(rig.clock.delay(1000));
    return submitted.value.runId;
  }

  async function resume(rig: Rig, runId: string): Promise<RunHandle> {
    const resumed = await rig.go(resumeRun({ ...rig.options, runId }));
    if (!resumed.ok) throw new Error(resumed.error.message);
    return resumed.value;
  }

  test('cancels a run that started earlier', async () => {
    const rig = createRig('resumed-replaces', slow);
    const earlier = await submit(rig, 'queue');
    const later = await submit(rig, 'replace');
    const first = await resume(rig, earlier);
    const second = await resume(rig, later);
    expect(await rig.go(first.finished)).toMatchObject({ status: 'canceled' });
    expect(await rig.go(second.finished)).toMatchObject({ status: 'succeeded' });
  });

  test('cancels an earlier run that no process executes', async () => {
    const rig = createRig('resumed-replaces-left', slow);
    const earlier = await submit(rig, 'queue');
    const later = await submit(rig, 'replace');
    const first = await resume(rig, earlier);
    await rig.until(() => rig.created().some(({ wire }) => wire.phase === 'Running'));
    await rig.go(first.suspend());
    const second = await resume(rig, later);
    const runs = await listRuns('/home', rig.disk);
    expect(runs.find(({ runId }) => runId === earlier)).toMatchObject({ status: 'canceled' });
    expect(await rig.go(second.finished)).toMatchObject({ status: 'succeeded' });
  });

  test('is rejected beside a run that started later, and leaves it alone', async () => {
    const rig = createRig('resumed-later', slow);
    const earlier = await submit(rig, 'replace');
    const later = await submit(rig, 'queue');
    const first = await resume(rig, later);
    expect(await rig.go(resumeRun({ ...rig.options, runId: earlier }))).toMatchObject({
      ok: false,
      error: { code: 'GROUP_BUSY', message: expect.stringContaining(later) },
    });
    expect(await rig.go(first.finished)).toMatchObject({ status: 'succeeded' });
    expect(await rig.go((await resume(rig, earlier)).finished)).toMatchObject({ status: 'succeeded' });
  });
});
