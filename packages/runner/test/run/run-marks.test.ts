import { ok, type Plan } from '@sluice/core';
import { CUSTODY_FILE, type Custody, journalPath, parseJournal, RECEIVED_FILE, runDirectory } from '@sluice/home';
import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { adoptRun } from '../../src/run/adopt-run.ts';
import { approveRun } from '../../src/run/approve-run.ts';
import { cancelRun } from '../../src/run/cancel-run.ts';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig, type Rig } from '../simulation/rig.ts';

const PLAN: Plan = createHandPlan([createStep('slow', { outputs: { files: { path: '/out', retain: false } } })], {
  concurrency: { group: 'nightly', limit: 1, overlap: 'replace' },
});
const BEHAVE = { behave: { slow: { runMs: 600_000 } } };
const CONFINED = { delivers: false, notifier: { post: async () => ok(undefined), run: async () => ok(undefined) } };

const start = (rig: Rig, runId?: string) =>
  rig.go(startRun({ ...rig.options, plan: PLAN, baseDir: '/base', ...(runId !== undefined && { runId }) }));

/** A run that no process executes and whose container runs. */
async function leaveRun(rig: Rig): Promise<string> {
  const started = await start(rig);
  if (!started.ok) throw new Error(started.error.message);
  await rig.until(() => rig.created().length === 1);
  await rig.go(started.value.suspend());
  return started.value.runId;
}

const mark = (rig: Rig, path: string, content: unknown = {}) =>
  rig.disk.replace(path, Buffer.from(JSON.stringify(content)));

const PLACE = { service: 'https://s', cluster: 'sim', account: 'me', publish: {} };

const move = (rig: Rig, runId: string, custody: Custody) =>
  mark(rig, `${runDirectory('/home', runId)}/${CUSTODY_FILE}`, custody);

const MARKS: Record<string, (rig: Rig, runId: string) => Promise<unknown>> = {
  'on a server': (rig, runId) => move(rig, runId, { state: 'server', place: PLACE }),
  ordering: (rig, runId) => move(rig, runId, { state: 'ordering', place: PLACE }),
  collecting: (rig, runId) => move(rig, runId, { state: 'collecting' }),
  'a copy that is collected': (rig, runId) => move(rig, runId, { state: 'collectingCopy', place: PLACE }),
  received: (rig, runId) => mark(rig, `${runDirectory('/home', runId)}/${RECEIVED_FILE}`),
  async removed(rig, runId) {
    await mark(rig, `/home/removed/${runId}/summary.json`);
    await rig.disk.remove(runDirectory('/home', runId));
  },
};

const ACTIONS: Record<string, (rig: Rig, runId: string) => Promise<unknown>> = {
  resume: (rig, runId) => rig.go(resumeRun({ ...rig.options, runId })),
  cancel: (rig, runId) => rig.go(cancelRun({ ...rig.options, runId, by: 'x' })),
  start: (rig, runId) => start(rig, runId),
  adopt: (rig, runId) => rig.go(adoptRun({ ...rig.options, runId, plan: PLAN, baseDir: '/base' })),
  approve: (rig, runId) => rig.go(approveRun('/home', { runId, step: 'slow', approved: true, by: 'x' }, rig.options)),
  /** Another run of the group, which cancels this one if it may. */
  async replace(rig) {
    const other = startRun({ ...rig.options, plan: PLAN, baseDir: '/base' });
    const waited = rig.clock.delay(60_000).then(() => undefined);
    await rig.go(Promise.race([other, waited]));
  },
};

/** An answer to an approval opens no path of the run. */
const isAllowed = (action: string, name: string) => action === 'approve' && name === 'received';
const TABLE = Object.keys(MARKS).flatMap((name) => Object.keys(ACTIONS).map((action) => [action, name] as const));

test.each(TABLE.filter(([action, name]) => !isAllowed(action, name)))(
  'openJournal does not %s a run with the mark "%s"',
  async (action, name) => {
    const rig = createRig(`marks ${action} ${name}`, BEHAVE);
    const runId = await leaveRun(rig);
    await MARKS[name]!(rig, runId);
    const journal = () => Buffer.from(rig.disk.files.get(journalPath(runDirectory('/home', runId))) ?? []).toString();
    const before = journal();
    const done = await ACTIONS[action]!(rig, runId);
    if (action !== 'replace') expect(done).toMatchObject({ ok: false });
    expect(journal()).toBe(before);
    const [container] = rig.created();
    expect(container).toMatchObject({ live: true });
    expect(container?.wire.phase).not.toBe('Canceling');
  },
);

test('resumeRun delivers nothing of a run that was received, and a confined process may execute it', async () => {
  const rig = createRig('received', { behave: { slow: { runMs: 1_000 } } });
  const runId = await leaveRun(rig);
  await MARKS.received!(rig, runId);
  const planPath = `${runDirectory('/home', runId)}/plan.json`;
  const plan = JSON.parse(Buffer.from(rig.disk.files.get(planPath)!).toString());
  plan.pipeline.outputs = { files: { from: { step: 'slow', output: 'files' }, publish: '/nowhere/victim' } };
  await mark(rig, planPath, plan);
  const resumed = await rig.go(resumeRun({ ...rig.options, ...CONFINED, runId }));
  if (!resumed.ok) throw new Error(resumed.error.message);
  expect(await rig.go(resumed.value.finished)).toMatchObject({ status: 'succeeded' });
  const journal = parseJournal(rig.disk.files.get(journalPath(runDirectory('/home', runId)))!);
  expect(journal.ok && journal.value.records.find(({ kind }) => kind === 'delivered')).toMatchObject({
    ...{ outputs: {}, pending: ['files'] },
  });
});

test('startRun cancels an earlier run of its group with the secrets of that run, and delivers none of its outputs', async () => {
  const rig = createRig('replace secrets', BEHAVE);
  const secret = createHandPlan([createStep('slow', { secrets: ['token'], env: {} } as never)], {
    ...{ concurrency: { group: 'nightly', limit: 1, overlap: 'replace' }, secrets: ['token'] },
  } as never);
  const asked: string[] = [];
  const options = { ...rig.options, ...CONFINED, plan: secret, baseDir: '/base' };
  const secrets = (_: string, runId: string) => {
    asked.push(runId);
    return 'value';
  };
  const first = await rig.go(startRun({ ...options, secrets }));
  if (!first.ok) throw new Error(first.error.message);
  await rig.until(() => rig.created().length === 1);
  await rig.go(first.value.suspend());
  await mark(rig, `${runDirectory('/home', first.value.runId)}/${RECEIVED_FILE}`);
  asked.length = 0;
  const second = await rig.go(startRun({ ...options, secrets }));
  if (!second.ok) throw new Error(second.error.message);
  expect(new Set(asked)).toEqual(new Set([first.value.runId, second.value.runId]));
});
