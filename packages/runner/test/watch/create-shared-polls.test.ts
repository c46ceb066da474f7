import { describe, expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { startRun } from '../../src/run/start-run.ts';
import type { RunHandle } from '../../src/session/run-options.ts';
import { createSharedPolls } from '../../src/watch/create-shared-polls.ts';
import { createRig, type Rig, type RigOptions } from '../simulation/rig.ts';

const MINUTES = 60_000;
const CELLS = 10;
const MATRIX = { axes: { n: Array.from({ length: CELLS }, (_, n) => n) }, include: [], exclude: [] };
const CROWD = createHandPlan([createStep('crowd', { matrix: MATRIX })]);
const ONE = createHandPlan([createStep('one')]);
const QUICK = createHandPlan([createStep('quick')]);

function open(seed: string, given: RigOptions) {
  const rig = createRig(seed, { hints: false, ...given });
  return { rig, polls: createSharedPolls(rig.clock) };
}

async function start({ rig, polls }: ReturnType<typeof open>, plan = CROWD): Promise<RunHandle> {
  const started = await rig.go(startRun({ ...rig.options, polls, plan, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  return started.value;
}

const counted = ({ simulated: { calls } }: Rig) => ({ list: calls.get('list') ?? 0, get: calls.get('get') ?? 0 });

async function runTogether(count: number, given: RigOptions) {
  const world = open('together', given);
  const runs: RunHandle[] = [];
  for (let i = 0; i < count; i++) runs.push(await start(world));
  const reports = await world.rig.go(Promise.all(runs.map(({ finished }) => finished)));
  expect(reports.map(({ status }) => status)).toEqual(Array(count).fill('succeeded'));
  return counted(world.rig);
}

describe('createSharedPolls', () => {
  test('twenty runs of an account cost no more lists than one', async () => {
    const behave = { crowd: { runMs: 30 * MINUTES } };
    const one = await runTogether(1, { behave });
    const twenty = await runTogether(20, { behave });
    expect(twenty.list).toBeLessThan(1.5 * one.list);
    // The list does not contain ended containers: each is queried once.
    expect(twenty.get).toBeLessThan(20 * CELLS * 1.5);
  });

  test('runs with one container each are listed together', async () => {
    const world = open('small', { behave: { one: { runMs: 10 * MINUTES } } });
    const runs: RunHandle[] = [];
    for (let i = 0; i < 8; i++) runs.push(await start(world, ONE));
    await world.rig.go(Promise.all(runs.map(({ finished }) => finished)));
    expect(counted(world.rig).get).toBeLessThan(3 * runs.length);
  });

  test('a young container is not noticed later because other runs have old ones', async () => {
    const world = open('young', { behave: { crowd: { runMs: 60 * MINUTES }, quick: { runMs: 3_000 } } });
    const old = await start(world);
    const { clock } = world.rig;
    const since = clock.now();
    await world.rig.until(() => clock.now() >= since + 30 * MINUTES);
    const alone = open('young', { behave: { quick: { runMs: 3_000 } } });
    const [beside, byItself] = [await start(world, QUICK), await start(alone, QUICK)];
    const report = await world.rig.go(beside.finished);
    const reference = await alone.rig.go(byItself.finished);
    expect(report.endedAt! - report.startedAt!).toBeLessThan(reference.endedAt! - reference.startedAt! + 1_000);
    await old.suspend();
  });

  test('every run learns that the login is rejected', async () => {
    const faults: { unauthenticated: number } = { unauthenticated: 0 };
    const world = open('login', { behave: { crowd: { runMs: 600 * MINUTES } }, faults });
    const runs = [await start(world), await start(world), await start(world)];
    await world.rig.until(() => world.rig.created().length === runs.length * CELLS);
    faults.unauthenticated = 1;
    const reports = await world.rig.go(Promise.all(runs.map(({ finished }) => finished)));
    expect(reports.map(({ status }) => status)).toEqual(['suspended', 'suspended', 'suspended']);
  });

  test('a run that leaves does not stop the polls of the others', async () => {
    const world = open('leaving', { behave: { crowd: { runMs: 10 * MINUTES } } });
    const [first, second] = [await start(world), await start(world)];
    await world.rig.until(() => world.rig.created().length === 2 * CELLS);
    await first.suspend();
    expect((await world.rig.go(second.finished)).status).toBe('succeeded');
    // After the last run has left, another can join.
    expect((await world.rig.go((await start(world)).finished)).status).toBe('succeeded');
  });

  test('hints reach the run of the container', async () => {
    const world = open('hints', { hints: true, behave: { crowd: { runMs: 10 * MINUTES } } });
    const runs = [await start(world), await start(world)];
    const reports = await world.rig.go(Promise.all(runs.map(({ finished }) => finished)));
    expect(reports.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
    for (const { startedAt, endedAt } of reports) expect(endedAt! - startedAt!).toBeLessThan(10 * MINUTES + 5_000);
  });
});
