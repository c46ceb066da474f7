import { ServiceError } from '@sluice/client';
import { journalPath, parseJournal, readRun, runDirectory } from '@sluice/home';
import { describeStatus } from '@sluice/run';
import { describe, expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { adoptRun } from '../../src/run/adopt-run.ts';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import { killedAfter } from '../simulation/killed-after.ts';
import { createRig, type Rig, type RigOptions } from '../simulation/rig.ts';

const need = (step: string) => ({ step, condition: 'succeeded' as const });
const retry = { ...createStep('a').retry, limit: 2 };

const STEPS = [
  createStep('first'),
  createStep('cells', {
    matrix: { axes: { n: [1, 2, 3] }, include: [], exclude: [] },
    needs: [need('first')],
  }),
  createStep('flaky', { needs: [need('first')], retry }),
  createStep('slow', { needs: [need('first')], timeoutMs: 5000, retry }),
  createStep('last', { needs: [need('cells'), need('slow')], continueOnError: true }),
];
const PLAN = createHandPlan(STEPS, { failFast: false });
const BEHAVE: NonNullable<RigOptions['behave']> = {
  flaky: { end: 'Failed', exitCode: 3, runMs: 2000 },
  slow: { runMs: 60_000 },
};

/** Starts a run and loses its journal after that many containers; with `keepsPlan` only the journal, else everything. */
async function lose(rig: Rig, containers: number, keepsPlan = false): Promise<string> {
  const started = await rig.go(startRun({ ...rig.options, plan: PLAN, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  await rig.until(() => rig.created().length >= containers);
  await rig.go(started.value.suspend());
  for (const path of [...rig.disk.files.keys()]) {
    const isLost = keepsPlan ? path.endsWith('journal.ndjson') : path.includes(started.value.runId);
    if (isLost) rig.disk.files.delete(path);
  }
  return started.value.runId;
}

async function adoptAndEnd(rig: Rig, runId: string) {
  const adopted = await rig.go(adoptRun({ ...rig.options, runId, plan: PLAN, baseDir: '/base' }));
  if (!adopted.ok) throw new Error(adopted.error.message);
  const resumed = await rig.go(resumeRun({ ...rig.options, runId }));
  if (!resumed.ok) throw new Error(resumed.error.message);
  return { adopted: adopted.value, report: await rig.go(resumed.value.finished) };
}

const names = (rig: Rig) =>
  rig
    .created()
    .map(
      ({ wire }) => `${wire.labels!['sluice-step']}/${wire.labels!['sluice-cell']} ${wire.labels!['sluice-attempt']}`,
    )
    .sort();

async function undisturbed() {
  const rig = createRig('undisturbed', { behave: BEHAVE });
  const started = await rig.go(startRun({ ...rig.options, plan: PLAN, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  const report = await rig.go(started.value.finished);
  return { names: names(rig), states: report.steps.map(describeStatus) };
}

describe('adoptRun', () => {
  const moments = [1, 2, 4, 6, 7, 8, 9];
  test.each(moments)('restores a run that was lost after %d containers; nothing starts twice', async (moment) => {
    const expected = await undisturbed();
    for (const conflict of [409, 400, 'echo'] as const) {
      const rig = createRig(`lost ${moment}`, { behave: BEHAVE, dialect: { conflict } });
      const runId = await lose(rig, moment);
      const { adopted, report } = await adoptAndEnd(rig, runId);
      expect(adopted.length).toBeGreaterThanOrEqual(moment);
      expect(names(rig)).toEqual(expected.names);
      expect(report.steps.map(describeStatus)).toEqual(expected.states);
    }
  });

  test.each([{ times: 'drifting', requeues: true }, { times: 'zoneless' }] as const)(
    'restores a run of a service with %j',
    async (dialect) => {
      const expected = await undisturbed();
      const rig = createRig('lost', { behave: BEHAVE, dialect });
      const { report } = await adoptAndEnd(rig, await lose(rig, 6));
      expect(names(rig)).toEqual(expected.names);
      expect(report.steps.map(describeStatus)).toEqual(expected.states);
    },
  );

  test("takes a gateway's page for no sign that a container is gone", async () => {
    const rig = createRig('page', { behave: BEHAVE });
    const runId = await lose(rig, 6);
    const { service } = rig.options;
    const get = () =>
      Promise.reject(new ServiceError('NOT_FOUND', 'replied 404 nginx', { status: 404, isForeign: true }));
    const behind = { ...service, containers: { ...service.containers, get } };
    const adopting = adoptRun({ ...rig.options, service: behind, runId, plan: PLAN, baseDir: '/base' });
    expect(await rig.go(adopting)).toMatchObject({ ok: false, error: { code: 'SERVICE_UNREACHABLE' } });
    expect(names(rig)).toEqual([...new Set(names(rig))]);
  });

  test('counts an attempt that the service has forgotten as over where a later one was started', async () => {
    const rig = createRig('forgotten', { behave: BEHAVE });
    const runId = await lose(rig, 7);
    const flaky = rig.created().filter(({ wire }) => wire.labels!['sluice-step'] === 'flaky');
    expect(flaky).toHaveLength(2);
    await rig.go(rig.options.service.containers.delete({ ...rig.options.scope, id: flaky[0]!.wire.id }));
    const { report } = await adoptAndEnd(rig, runId);
    expect(names(rig)).toEqual([...new Set(names(rig))]);
    expect(report.failures.find(({ step, attempt }) => step === 'flaky' && attempt === 1)).toMatchObject({
      reason: 'infrastructure',
      message: expect.stringContaining('a later attempt was started'),
    });
  });

  test('does not start an attempt again that it has found and that is gone since', async () => {
    const rig = createRig('gone since', { behave: BEHAVE });
    const runId = await lose(rig, 5);
    expect(await rig.go(adoptRun({ ...rig.options, runId, plan: PLAN, baseDir: '/base' }))).toMatchObject({ ok: true });
    const gone = rig.created().find(({ wire }) => wire.labels!['sluice-step'] === 'slow')!;
    await rig.go(rig.options.service.containers.delete({ ...rig.options.scope, id: gone.wire.id }));
    const resumed = await rig.go(resumeRun({ ...rig.options, runId }));
    if (!resumed.ok) throw new Error(resumed.error.message);
    const { failures } = await rig.go(resumed.value.finished);
    expect(names(rig)).toEqual([...new Set(names(rig))]);
    expect(failures.find(({ step, attempt }) => step === 'slow' && attempt === 1)).toMatchObject({
      reason: 'infrastructure',
      message: expect.stringContaining('the container is lost'),
    });
  });

  test('a run that ends before it has reached a container that was found cancels it', async () => {
    const rig = createRig('left', { behave: BEHAVE });
    const runId = await lose(rig, 6);
    expect(await rig.go(adoptRun({ ...rig.options, runId, plan: PLAN, baseDir: '/base' }))).toMatchObject({ ok: true });
    const slow = rig.created().find(({ wire }) => wire.labels!['sluice-step'] === 'slow')!;
    expect(slow.live).toBe(true);
    const resumed = await rig.go(resumeRun({ ...rig.options, runId }));
    if (!resumed.ok) throw new Error(resumed.error.message);
    resumed.value.cancel('a person');
    const report = await rig.go(resumed.value.finished);
    expect(report.status).toBe('canceled');
    expect(rig.created().filter(({ live }) => live)).toEqual([]);
    expect(slow.wire.phase).toBe('Canceled');
    expect(report.warnings?.map(({ message }) => message)).toContain(
      `container ${slow.wire.id} of step slow is canceled: the adopted run ends without this step`,
    );
  });

  test.each([1, 2, 3, 4])('is repeated, or complete, if a crash left %d lines of its journal', async (lines) => {
    const rig = createRig(`torn ${lines}`, { behave: BEHAVE });
    const runId = await lose(rig, 5);
    const { options, disk } = rig;
    expect(await rig.go(adoptRun({ ...options, runId, plan: PLAN, baseDir: '/base' }))).toMatchObject({ ok: true });
    const path = journalPath(runDirectory(options.home, runId));
    const kept = Buffer.from(disk.files.get(path)!).toString().split('\n').slice(0, lines);
    disk.files.set(path, Buffer.from(`${kept.join('\n')}\n`));
    const journal = parseJournal(disk.files.get(path)!);
    const kinds = journal.ok ? journal.value.records.map(({ kind }) => kind) : [];
    expect(kinds).toHaveLength(lines);
    expect(!kinds.includes('run') || kinds.includes('adopted')).toBe(true);
    const expected = kinds.includes('run') ? { ok: true } : { ok: false, error: { code: 'JOURNAL_LOST' } };
    const resumed = await rig.go(resumeRun({ ...options, runId }));
    expect(resumed).toMatchObject(expected);
    if (resumed.ok) await rig.go(resumed.value.finished);
    else await adoptAndEnd(rig, runId);
    expect(names(rig)).toEqual((await undisturbed()).names);
  });

  test('is known to have begun, wherever its adoption is killed', async () => {
    const seen = new Set<boolean>();
    for (let operation = 1; operation <= 60; operation++) {
      const rig = createRig(`adoption killed ${operation}`, { behave: BEHAVE });
      const runId = await lose(rig, 2);
      const process = killedAfter(rig, operation);
      const { clock, disk, service } = process;
      const adopting = adoptRun({ ...rig.options, clock, disk, service, runId, plan: PLAN, baseDir: '/base' });
      await rig.go(Promise.race([adopting.then(() => undefined), process.died]));
      const has = (name: string) => rig.disk.files.has(`/home/runs/${runId}/${name}`);
      if (has('lease.json')) expect(has('summary.json'), `operation ${operation}`).toBe(true);
      seen.add(has('lease.json'));
    }
    expect(seen.size).toBe(2);
  });

  test('keeps a damaged journal aside', async () => {
    const rig = createRig('damaged', { behave: BEHAVE });
    const started = await rig.go(startRun({ ...rig.options, plan: PLAN, baseDir: '/base' }));
    if (!started.ok) throw new Error(started.error.message);
    await rig.until(() => rig.created().length > 3);
    await rig.go(started.value.suspend());
    const file = `/home/runs/${started.value.runId}/journal.ndjson`;
    const bytes = rig.disk.files.get(file)!;
    bytes.fill(0, 20, 60);
    await adoptAndEnd(rig, started.value.runId);
    const aside = [...rig.disk.files].find(([path]) => path.includes('journal.damaged-'));
    expect(aside?.[1]).toEqual(bytes);
    expect(names(rig)).toEqual((await undisturbed()).names);
  });

  test('rejects a run whose journal is there, one without containers, and another file', async () => {
    const rig = createRig('rejected', { behave: BEHAVE });
    const runId = await lose(rig, 3, true);
    const given = { ...rig.options, plan: PLAN, baseDir: '/base' };
    expect(await rig.go(adoptRun({ ...given, runId: 'aaaaaaaaaaaaa' }))).toMatchObject({
      error: { code: 'RUN_NOT_FOUND' },
    });
    rig.disk.files.delete(`/home/runs/${runId}/plan.json`);
    const other = createHandPlan([createStep('other')]);
    expect(await rig.go(adoptRun({ ...given, plan: other, runId }))).toMatchObject({
      error: { code: 'NOT_ADOPTABLE', message: expect.stringContaining('which the file does not have') },
    });
    expect(await rig.go(adoptRun({ ...given, runId }))).toMatchObject({ ok: true });
    expect(await rig.go(adoptRun({ ...given, runId }))).toMatchObject({ error: { code: 'RUN_KNOWN' } });
    expect(await rig.go(readRun('/home', runId, rig.disk))).toMatchObject({ value: { status: 'suspended' } });
  });

  test('does not start again what the service has forgotten', async () => {
    const rig = createRig('gone', { behave: BEHAVE });
    const runId = await lose(rig, 5);
    await rig.go(rig.options.service.containers.delete({ ...rig.options.scope, id: rig.created()[0]!.wire.id }));
    const rejected = await rig.go(adoptRun({ ...rig.options, runId, plan: PLAN, baseDir: '/base' }));
    expect(rejected).toMatchObject({
      error: { code: 'NOT_ADOPTABLE', message: expect.stringContaining('step first succeeded') },
    });
  });

  test('warns of a container that was started from something else', async () => {
    const rig = createRig('changed', { behave: BEHAVE });
    const runId = await lose(rig, 1);
    const steps = PLAN.pipeline.steps.map((step) => ({ ...step, command: ['changed'] }));
    const given = { ...rig.options, runId, plan: createHandPlan(steps), baseDir: '/base' };
    expect(await rig.go(adoptRun(given))).toMatchObject({ ok: true });
    const resumed = await rig.go(resumeRun({ ...rig.options, runId }));
    if (!resumed.ok) throw new Error(resumed.error.message);
    await rig.go(resumed.value.finished);
    const warnings = rig.events.filter(({ type }) => type === 'warning');
    expect(warnings).toMatchObject([{ message: expect.stringContaining('first was started from another file') }]);
  });
});
