import type { RunReport } from '@sluice/run';
import { expect, test } from 'vitest';
import { startRun } from '../../src/run/start-run.ts';
import { createReuseWorld, planOf, type ReuseWorld, statesOf } from './reuse-world.ts';

const BODY = `steps:
  a: { command: [a], outputs: { o: /o }, cache: true }
  twin: { command: [twin], outputs: { o: /o }, cache: true }
  b: { command: [b], inputs: { i: a.o, t: twin.o }, outputs: { o: /o }, cache: true }
  c: { command: [c], needs: [b], cache: true }`;

const hasCreated = ({ rig }: ReuseWorld, runId: string, step: string) =>
  rig.created().some(({ wire }) => wire.labels?.['sluice-run'] === runId && wire.labels['sluice-step'] === step);

/** Two runs at once: of each step, another one of them is the last to end. */
async function runTwice(world: ReuseWorld): Promise<readonly RunReport[]> {
  const { rig, behave } = world;
  const start = async () => {
    const started = await rig.go(startRun({ ...rig.options, plan: planOf({ body: BODY }), baseDir: '/base' }));
    if (!started.ok) throw new Error(started.error.message);
    return started.value;
  };
  behave.a = { runMs: 1000 };
  const first = await start();
  await rig.until(() => hasCreated(world, first.runId, 'a') && hasCreated(world, first.runId, 'twin'));
  Object.assign(behave, { a: { runMs: 100 }, twin: { runMs: 300 }, b: { runMs: 5000 } });
  const second = await start();
  await rig.until(() => hasCreated(world, second.runId, 'b'));
  behave.b = { runMs: 100 };
  const reports = await rig.go(Promise.all([first.finished, second.finished]));
  for (const report of reports) expect(report.status).toBe('succeeded');
  return reports;
}

test('readCacheIndex lets a run reuse results of one of two parallel runs, and none of the other', async () => {
  const world = createReuseWorld('parallel');
  await runTwice(world);
  const third = await world.start({ body: BODY });
  expect(statesOf(third)).toEqual({ a: 'reused', twin: 'reused', b: 'reused', c: 'reused' });
  expect(new Set(third.steps.flatMap(({ cells }) => cells.map(({ reusedFrom }) => reusedFrom))).size).toBe(1);
  expect(statesOf(await world.start({ body: BODY }))).toEqual(statesOf(third));
});

test('readCacheIndex does not combine the results of two parallel runs if neither has finished', async () => {
  const world = createReuseWorld('parallel and failed');
  world.behave.c = { end: 'Failed' };
  const { rig } = world;
  const start = () => startRun({ ...rig.options, plan: planOf({ body: BODY }), baseDir: '/base' });
  const runs = await rig.go(Promise.all([start(), start()]));
  await rig.go(Promise.all(runs.map((run) => (run.ok ? run.value.finished : undefined))));
  world.behave.c = {};
  const third = await world.start({ body: BODY });
  const [a, twin, b] = third.steps.map(({ cells }) => cells[0]!.reusedFrom);
  expect(b).toBeDefined();
  expect([a, twin]).toEqual([b, b]);
  expect(statesOf(await world.start({ body: BODY })).c).toBe('reused');
});
