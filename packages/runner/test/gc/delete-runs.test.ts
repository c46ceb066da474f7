import type { Plan } from '@sluice/core';
import { type Disk, listRuns } from '@sluice/home';
import type { RunReport } from '@sluice/run';
import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { collectGarbage } from '../../src/gc/collect-garbage.ts';
import { type DeleteRunsOptions, deleteRuns } from '../../src/gc/delete-runs.ts';
import { startRun } from '../../src/run/start-run.ts';
import type { Rig } from '../simulation/rig.ts';
import { createGcRig } from './gc-rig.ts';

const make = createStep('make', { outputs: { made: { path: '/made', retain: false } } });
const PLAN = createHandPlan([make]);
const CACHED = createHandPlan([{ ...make, cache: { ignore: [] } }]);
const RETAINED = createHandPlan([createStep('make', { outputs: { made: { path: '/made', retain: true } } })]);
const DAY = 86_400_000;

async function run(rig: Rig, plan: Plan): Promise<RunReport> {
  const started = await rig.go(startRun({ ...rig.options, plan, baseDir: '/nowhere' }));
  if (!started.ok) throw new Error(started.error.message);
  return rig.go(started.value.finished);
}

function remove(rig: Rig, runs: readonly RunReport[], more: Partial<DeleteRunsOptions> = {}) {
  const { service, home, disk } = rig.options;
  return rig.go(deleteRuns({ service, home, disk: disk!, runIds: runs.map(({ runId }) => runId), ...more }));
}

function collect(rig: Rig, olderThanMs: number) {
  const { service, home, disk } = rig.options;
  return rig.go(collectGarbage({ service, home, disk: disk!, olderThanMs }));
}

const listed = async (rig: Rig) => (await rig.go(listRuns('/home', rig.disk))).map(({ runId }) => runId);
/** The files of a run, in its volume and in the home. */
const filesOf = (rig: Rig, { runId }: RunReport) =>
  [...[...rig.simulated.volumes.values()].flatMap(({ files }) => [...files.keys()]), ...rig.disk.files.keys()].filter(
    (file) => file.includes(runId),
  );

test('deleteRuns removes record and data of a young run, and no other', async () => {
  const rig = createGcRig();
  const [first, second] = [await run(rig, PLAN), await run(rig, PLAN)];
  expect(await remove(rig, [first])).toMatchObject({
    value: { freed: [{ kind: 'run', runId: first.runId, pipeline: 'hand' }], problems: [] },
  });
  expect(filesOf(rig, first)).toEqual([]);
  expect(await listed(rig)).toEqual([second.runId]);
  expect(await remove(rig, [first])).toEqual({
    ok: false,
    error: [{ runId: first.runId, reason: 'its home does not have it' }],
  });
});

test('deleteRuns removes nothing if one of the runs must stay', async () => {
  const rig = createGcRig();
  const [first, user] = [await run(rig, CACHED), await run(rig, CACHED)];
  const [retained, other] = [await run(rig, RETAINED), await run(rig, PLAN)];
  const refused = await remove(rig, [other, first, retained]);
  expect(refused).toEqual({
    ok: false,
    error: [
      { runId: first.runId, reason: `run ${user.runId} reuses its outputs` },
      { runId: retained.runId, reason: 'its output make.made is to be retained' },
    ],
  });
  expect(await listed(rig)).toHaveLength(4);
  expect(await remove(rig, [first, user, other])).toMatchObject({ ok: true, value: { problems: [] } });
  expect(await listed(rig)).toEqual([retained.runId]);
});

test('deleteRuns removes nothing that another run reuses since it was chosen, and that may be reused later', async () => {
  const rig = createGcRig();
  const [first, second] = [await run(rig, PLAN), await run(rig, PLAN)];
  const reuse = { runId: first.runId, from: [] };
  let asked = 0;
  const readElsewhere = async () => {
    if (asked++ > 0) return { runs: [], unknown: [{ ...rig.options.scope, url: 'https://s.example', problem: 'x' }] };
    return { runs: [], unknown: [] };
  };
  expect(await remove(rig, [first, second], { readElsewhere })).toMatchObject({
    ok: false,
    error: [{ runId: first.runId }, { runId: second.runId }],
  });
  const again = await rig.go(startRun({ ...rig.options, plan: PLAN, baseDir: '/nowhere', reuse }));
  if (!again.ok) throw new Error(again.error.message);
  expect(await rig.go(again.value.finished)).toMatchObject({ steps: [{ reused: true }] });
});

test('a deletion that is interrupted at any write is continued by the next collection, or can be repeated', async () => {
  for (let writes = 0, isComplete = false; !isComplete; writes++) {
    const rig = createGcRig();
    const [first, second] = [await run(rig, PLAN), await run(rig, PLAN)];
    const deleted = await remove(rig, [first], { disk: failAfter(rig.disk, writes) }).catch(() => undefined);
    isComplete = deleted !== undefined;
    const left = filesOf(rig, first);
    const hasMark = left.some((file) => file.endsWith('/custody.json'));
    const report = await collect(rig, 30 * DAY);
    if (hasMark) expect(report.freed, String(writes)).toMatchObject([{ runId: first.runId }]);
    else if (left.length > 0) expect(await remove(rig, [first])).toMatchObject({ ok: true });
    expect(filesOf(rig, first)).toEqual([]);
    expect(await listed(rig)).toEqual([second.runId]);
  }
});

/** A disk that fails for good after some changes. */
function failAfter(disk: Disk, changes: number): Disk {
  let left = changes;
  const change =
    <A extends unknown[], R>(act: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (left-- <= 0) throw new Error('the process has ended');
      return act(...args);
    };
  return { ...disk, create: change(disk.create), replace: change(disk.replace), remove: change(disk.remove) };
}
