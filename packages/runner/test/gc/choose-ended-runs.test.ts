import type { Plan } from '@sluice/core';
import { encodeLine, parseJournal } from '@sluice/home';
import type { RunReport } from '@sluice/run';
import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { chooseEndedRuns, type EndedRuns, forgetRemovedRuns } from '../../src/gc/choose-ended-runs.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig, type Rig } from '../simulation/rig.ts';

const DAY = 86_400_000;
const make = createStep('make', { outputs: { made: { path: '/made', retain: false } } });
const PLAN = createHandPlan([make]);

async function run(rig: Rig, { plan = PLAN, reuse }: { plan?: Plan; reuse?: string } = {}): Promise<RunReport> {
  const more = reuse === undefined ? {} : { reuse: { runId: reuse, from: [] } };
  const started = await rig.go(startRun({ ...rig.options, plan, baseDir: '/', ...more }));
  if (!started.ok) throw new Error(started.error.message);
  return rig.go(started.value.finished);
}

/** Those that ended at least 90 days ago. */
function choose({ clock, disk, go }: Rig): Promise<EndedRuns> {
  return go(chooseEndedRuns({ home: '/home', disk, endedBefore: clock.wall() - 90 * DAY }));
}

async function pass(rig: Rig, days: number): Promise<void> {
  await rig.go(new Promise<void>((resolve) => void rig.clock.setTimer(rig.clock.now() + days * DAY, resolve)));
}

test('a run may be removed when it has ended so long ago, and not before', async () => {
  const rig = createRig('retention');
  const { runId } = await run(rig);
  await pass(rig, 89);
  const later = await run(rig);
  expect((await choose(rig)).runIds).toEqual([]);
  await pass(rig, 1.1);
  const chosen = await choose(rig);
  expect(chosen.runIds).toEqual([runId]);
  expect(await rig.go(chosen.findReason(runId))).toBe(undefined);
  expect(await rig.go(chosen.findReason(later.runId))).toBe('it is too recent');
});

test('a run that a kept run reuses is kept, and goes with that run; one with an output to retain stays', async () => {
  const rig = createRig('retention');
  const first = await run(rig);
  const retained = await run(rig, {
    plan: createHandPlan([{ ...make, outputs: { made: { path: '/made', retain: true } } }]),
  });
  await pass(rig, 60);
  const second = await run(rig, { reuse: first.runId });
  expect(second.steps[0]?.cells[0]).toMatchObject({ reusedFrom: first.runId });
  await pass(rig, 60);
  expect((await choose(rig)).runIds).toEqual([]);
  await pass(rig, 60);
  expect((await choose(rig)).runIds).toEqual([first.runId, second.runId]);
  expect(retained.status).toBe('succeeded');
});

test('a run that waits for a person is kept however old it is, and what a new run reuses since the choice', async () => {
  const rig = createRig('retention');
  const { runId } = await run(rig);
  const asking = await rig.go(
    startRun({ ...rig.options, plan: createHandPlan([createStep('ask', { approval: {} })]), baseDir: '/' }),
  );
  if (!asking.ok) throw new Error(asking.error.message);
  await pass(rig, 100);
  const chosen = await choose(rig);
  expect(chosen.runIds).toEqual([runId]);
  expect(await rig.go(chosen.findReason(asking.value.runId))).toBe('its journal does not say that it has ended');
  const later = await run(rig, { reuse: runId });
  expect(await rig.go(chosen.findReason(runId))).toBe(`run ${later.runId} reuses its outputs, or may do so`);
  await rig.go(asking.value.suspend());
  expect((await choose(rig)).runIds).toEqual([]);
});

test('the journal decides whether a run has ended, whatever its summary says', async () => {
  const rig = createRig('retention');
  const { runId } = await run(rig);
  await pass(rig, 100);
  const file = `/home/runs/${runId}/journal.ndjson`;
  const content = parseJournal(rig.disk.files.get(file)!);
  if (!content.ok) throw new Error(content.error);
  const records = content.value.records.filter(({ kind }) => kind !== 'finished');
  const lines = records.map((record, index) => encodeLine({ seq: index + 1, first: index + 1, epoch: 1, record }));
  rig.disk.files.set(file, Buffer.from(lines.join('')));
  const chosen = await choose(rig);
  expect(chosen.runIds).toEqual([runId]);
  expect(await rig.go(chosen.findReason(runId))).toBe('its journal does not say that it has ended');
  rig.disk.files.set(file, Buffer.from(lines.join('nonsense\n')));
  expect(await rig.go(chosen.findReason(runId))).toMatch(/^its journal cannot be read: /);
});

test('the cache forgets the runs that the home no longer has', async () => {
  const rig = createRig('retention');
  const plan = createHandPlan([{ ...make, cache: { ignore: [] } }]);
  const first = await run(rig, { plan });
  expect((await run(rig, { plan })).steps[0]?.cells[0]).toMatchObject({ reusedFrom: first.runId });
  await rig.go(forgetRemovedRuns('/home', rig.disk));
  expect((await run(rig, { plan })).steps[0]?.cells[0]).toMatchObject({ reusedFrom: first.runId });
  await rig.disk.remove(`/home/runs/${first.runId}`);
  await rig.go(forgetRemovedRuns('/home', rig.disk));
  expect((await run(rig, { plan })).steps[0]?.cells[0]).not.toHaveProperty('reusedFrom');
});
