import { readClaims, readRun, replayFromHome } from '@sluice/home';
import type { RunnerEvent } from '@sluice/run';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { adoptRun } from '../../src/run/adopt-run.ts';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import type { RunHandle } from '../../src/session/run-options.ts';
import { createRig, type Rig } from '../simulation/rig.ts';

const HOUR = 3_600_000;

/** Containers that hold slots now, as the service has them. */
function slotsInUse(rig: Rig, slots: (step: string) => number): number {
  const live = rig
    .created()
    .filter(({ wire }) => ['Creating', 'Pending', 'Running', 'Exiting'].includes(wire.phase ?? ''));
  return live.reduce((sum, { wire }) => sum + slots(wire.labels?.['sluice-step'] ?? ''), 0);
}

async function start(rig: Rig, plan: ReturnType<typeof createHandPlan>): Promise<RunHandle> {
  const started = await rig.go(startRun({ ...rig.options, plan, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  return started.value;
}

const planOf = (step: string, size = 1) =>
  createHandPlan([createStep(step, { pools: { gpu: 1 } })], { pools: { gpu: size } });

describe('pools', () => {
  test('are shared by the runs of a home, and the one that waits says for whom', async () => {
    const rig = createRig('share', { behave: { first: { runMs: HOUR } } });
    const first = await start(rig, planOf('first'));
    await rig.until(() => rig.created().length === 1);
    const second = await start(rig, planOf('second'));
    await rig.until(() => rig.events.some(isPostponed));
    const seen = await rig.go(readRun('/home', second.runId, rig.disk));
    expect(seen.ok && seen.value.steps[0]!.cells[0]!.message).toMatch(
      `waits for pool gpu: needs 1, 1 of 1 are held by run ${first.runId} step first; tried again at `,
    );
    expect(rig.created()).toHaveLength(1);
    await rig.go(first.finished);
    await rig.go(second.finished);
    expect(rig.created().map(({ wire }) => wire.phase)).toEqual(['Succeeded', 'Succeeded']);
    expect(await readClaims({ disk: rig.disk, home: '/home' })).toEqual({ claims: [], waiting: [] });
  });

  test('stay taken while the runner is away and its container runs, and are free when that has ended', async () => {
    const rig = createRig('away', { behave: { first: { runMs: HOUR } } });
    const first = await start(rig, planOf('first'));
    await rig.until(() => rig.created().length === 1);
    await rig.go(first.suspend());
    const begun = rig.clock.now();
    const second = await start(rig, planOf('second'));
    await rig.go(second.finished);
    expect(rig.clock.now() - begun).toBeGreaterThan(HOUR - 60_000);
    const resumed = await rig.go(resumeRun({ ...rig.options, runId: first.runId }));
    if (!resumed.ok) throw new Error(resumed.error.message);
    expect(await rig.go(resumed.value.finished)).toMatchObject({ status: 'succeeded' });
    expect(rig.created()).toHaveLength(2);
  });

  test('are held on by a run that was taken up again', async () => {
    const rig = createRig('taken-up', { behave: { first: { runMs: HOUR } } });
    const first = await start(rig, planOf('first'));
    await rig.until(() => rig.created().length === 1);
    await rig.go(first.suspend());
    await rig.disk.remove('/home/pools');
    const resumed = await rig.go(resumeRun({ ...rig.options, runId: first.runId }));
    if (!resumed.ok) throw new Error(resumed.error.message);
    const second = await start(rig, planOf('second'));
    await rig.until(() => rig.events.some(isPostponed));
    expect(rig.created()).toHaveLength(1);
    await rig.go(resumed.value.finished);
    expect(await rig.go(second.finished)).toMatchObject({ status: 'succeeded' });
  });

  test('are free when the journal of their holder has its end, whatever its plan is and the service knows', async () => {
    const rig = createRig('ended');
    const first = await start(rig, planOf('first'));
    await rig.until(() => rig.created().length === 1);
    const isClaim = (path: string) => path.startsWith('/home/pools/');
    const claimed = [...rig.disk.files].filter(([path]) => isClaim(path));
    await rig.go(first.finished);
    for (const path of rig.disk.files.keys()) if (isClaim(path)) rig.disk.files.delete(path);
    for (const [path, bytes] of claimed) rig.disk.files.set(path, bytes);
    await rig.disk.replace(`/home/runs/${first.runId}/plan.json`, Buffer.from('damaged'));
    const [{ wire }] = rig.created() as [ReturnType<Rig['created']>[number]];
    await rig.go(rig.options.service.containers.delete({ ...rig.options.scope, id: wire.id! }));
    expect((await readClaims({ disk: rig.disk, home: '/home' })).claims).toMatchObject([{ runId: first.runId }]);
    const second = await start(rig, planOf('second'));
    const until = rig.clock.now() + HOUR;
    await rig.until(() => rig.created().length === 2 || rig.clock.now() > until);
    expect(rig.created()).toHaveLength(2);
    await rig.go(second.finished);
  });

  test('stay taken when the journal of their holder is lost, and when it is adopted', async () => {
    const rig = createRig('lost', { behave: { first: { runMs: HOUR } } });
    const plan = planOf('first');
    const first = await start(rig, plan);
    await rig.until(() => rig.created().length === 1);
    await rig.go(first.suspend());
    for (const path of rig.disk.files.keys()) if (path.endsWith('journal.ndjson')) rig.disk.files.delete(path);
    const second = await start(rig, planOf('second'));
    const isWaiting = () => rig.events.some(isPostponed);
    await rig.until(isWaiting);
    const runId = first.runId;
    const adopted = await rig.go(adoptRun({ ...rig.options, runId, plan, baseDir: '/base' }));
    if (!adopted.ok) throw new Error(adopted.error.message);
    const resumed = await rig.go(resumeRun({ ...rig.options, runId }));
    if (!resumed.ok) throw new Error(resumed.error.message);
    expect((await readClaims({ disk: rig.disk, home: '/home' })).claims).toMatchObject([{ runId }]);
    expect(rig.created()).toHaveLength(1);
    expect(await rig.go(resumed.value.finished)).toMatchObject({ status: 'succeeded' });
    expect(await rig.go(second.finished)).toMatchObject({ status: 'succeeded' });
    expect(rig.created()).toHaveLength(2);
  });

  test('go at once to the run that has waited longest, however large its request', async () => {
    const rig = createRig('turns', { behave: { first: { runMs: HOUR } } });
    const sized = (step: string, gpu: number) =>
      createHandPlan([createStep(step, { pools: { gpu } })], { pools: { gpu: 2 } });
    const first = await start(rig, sized('first', 1));
    await rig.until(() => rig.created().length === 1);
    const waits = (count: number) => () => rig.events.filter(isPostponed).length >= count;
    const large = await start(rig, sized('large', 2));
    await rig.until(waits(1));
    const small = await start(rig, sized('small', 1));
    await rig.go(Promise.all([first.finished, large.finished, small.finished]));
    const [, second, third] = rig.created();
    expect(second?.wire.labels?.['sluice-step']).toBe('large');
    expect(second!.createdAt - Date.parse(rig.created()[0]!.wire.endTime!)).toBeLessThan(200);
    expect(third!.createdAt - Date.parse(second!.wire.endTime!)).toBeLessThan(200);
  });

  test('are asked for ever more rarely, also when the clock was set back meanwhile', async () => {
    const rig = createRig('set-back', { behave: { first: { runMs: HOUR } } });
    await start(rig, planOf('first'));
    await rig.until(() => rig.created().length === 1);
    const second = await rig.go(startRun({ ...rig.options, plan: planOf('second'), baseDir: '/base' }));
    if (!second.ok) throw new Error(second.error.message);
    await rig.go(rig.clock.delay(60_000));
    rig.clock.jump(-2 * HOUR);
    await rig.go(second.value.finished);
    const read = await rig.go(replayFromHome(rig.disk, '/home', second.value.runId));
    if (!read.ok) throw new Error(read.error.message);
    // Every 15 s in the end, instead of twice a second.
    expect(read.value.facts.known[0]![0]!.attempts[0]!.postponed!.times).toBeLessThan(400);
  });

  test('give their slots to the next cell of the same run without a pause', async () => {
    const plan = createHandPlan(
      [createStep('fit', { pools: { gpu: 1 }, matrix: { axes: { seed: [1, 2, 3, 4] }, include: [], exclude: [] } })],
      { pools: { gpu: 1 } },
    );
    const rig = createRig('same');
    const handle = await start(rig, plan);
    await rig.go(handle.finished);
    expect(rig.events.filter(isPostponed)).toEqual([]);
  });
});

function isPostponed(event: RunnerEvent): boolean {
  return event.type === 'cellChanged' && event.status === 'ready' && /; tried again at /.test(event.message ?? '');
}

interface World {
  readonly seed: number;
  readonly sizes: { readonly a: number; readonly b: number };
  readonly runs: readonly {
    readonly steps: readonly { readonly a: number; readonly b: number; readonly runMs: number }[];
  }[];
  /** After how many created containers the first runner is left, and the run is resumed. */
  readonly leaveAfter: number;
}

const world: fc.Arbitrary<World> = fc
  .record({ a: fc.integer({ min: 1, max: 3 }), b: fc.integer({ min: 1, max: 3 }) })
  .chain((sizes) => {
    const step = fc.record({
      a: fc.integer({ min: 0, max: sizes.a }),
      b: fc.integer({ min: 0, max: sizes.b }),
      runMs: fc.integer({ min: 1, max: 20_000 }),
    });
    return fc.record({
      seed: fc.nat(),
      sizes: fc.constant(sizes),
      runs: fc.array(fc.record({ steps: fc.array(step, { minLength: 1, maxLength: 5 }) }), {
        minLength: 2,
        maxLength: 3,
      }),
      leaveAfter: fc.integer({ min: 0, max: 3 }),
    });
  });

test('pools: several runs at once never hold more than a pool has, with a runner that goes away, and all of them end', async () => {
  await fc.assert(
    fc.asyncProperty(world, async ({ seed, sizes, runs, leaveAfter }) => {
      const stepName = (run: number, step: number) => `r${run}-s${step}`;
      const all = runs.flatMap(({ steps }, run) => steps.map((step, at) => [stepName(run, at), step] as const));
      const slots = new Map(all);
      const rig = createRig(String(seed), {
        behave: Object.fromEntries(all.map(([name, { runMs }]) => [name, { runMs }])),
      });
      const handles: RunHandle[] = [];
      for (const [run, { steps }] of runs.entries()) {
        const plan = createHandPlan(
          steps.map(({ a, b }, at) => createStep(stepName(run, at), { pools: { a, b } })),
          { pools: sizes },
        );
        handles.push(await start(rig, plan));
      }
      const check = () => {
        for (const pool of ['a', 'b'] as const) {
          const used = slotsInUse(rig, (name) => slots.get(name)?.[pool] ?? 0);
          if (used > sizes[pool]) throw new Error(`pool ${pool} has ${sizes[pool]} slots, and ${used} are in use`);
        }
      };
      let over = 0;
      const count = all.length;
      for (const handle of handles.slice(1)) void handle.finished.then(() => over++);
      await rig.until(() => {
        check();
        return rig.created().length >= Math.min(leaveAfter, count);
      });
      await rig.go(handles[0]!.suspend());
      const resumed = await rig.go(resumeRun({ ...rig.options, runId: handles[0]!.runId }));
      const isFinished = !resumed.ok && resumed.error.code === 'RUN_FINISHED';
      if (!resumed.ok && !isFinished) throw new Error(resumed.error.message);
      if (resumed.ok) void resumed.value.finished.then(() => over++);
      else over++;
      await rig.until(() => {
        check();
        return over === handles.length;
      });
      expect(rig.created()).toHaveLength(count);
      expect(await readClaims({ disk: rig.disk, home: '/home' })).toEqual({ claims: [], waiting: [] });
    }),
    { numRuns: 60 },
  );
});
