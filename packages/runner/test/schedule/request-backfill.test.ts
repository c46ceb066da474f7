import { expect, test } from 'vitest';
import { listPlannedTimes } from '../../src/schedule/list-planned-times.ts';
import { pauseSchedule } from '../../src/schedule/pause-schedule.ts';
import { requestBackfill } from '../../src/schedule/request-backfill.ts';
import { createScheduleWorld, HOUR_MS, hourAndMinute, MINUTE_MS, type ScheduleWorld } from './schedule-world.ts';

const MIDNIGHT = Date.UTC(2026, 0, 1);

function placeOf({ rig }: ScheduleWorld) {
  return { home: '/home', name: 'hourly', disk: rig.disk, clock: rig.clock };
}

/** A schedule that was paused from 01:30 to now (04:30): 02:00 to 04:00 are missed. */
async function createPausedWorld(seed: string) {
  const world = createScheduleWorld(seed);
  const watcher = world.watch({ overlap: 'allow' });
  await world.pass(HOUR_MS + 30 * MINUTE_MS);
  await world.rig.go(pauseSchedule({ ...placeOf(world), by: 'ada' }));
  await world.pass(3 * HOUR_MS);
  const backfill = (range: { from: number; to: number; dryRun?: boolean }) =>
    world.rig.go(requestBackfill({ ...placeOf(world), dryRun: false, ...range }));
  const list = async (limit = 100) => {
    const range = { from: MIDNIGHT, to: MIDNIGHT + 6 * HOUR_MS, limit };
    const listed = await world.rig.go(listPlannedTimes({ ...placeOf(world), ...range }));
    if (!listed.ok) throw new Error(listed.error);
    return listed.value.map(({ planned, verdict }) => `${hourAndMinute(planned)} ${verdict}`);
  };
  return { world, watcher, backfill, list };
}

test('the process that runs the schedule executes a backfill, one run after the other, also while it is paused', async () => {
  const { world, watcher, backfill, list } = await createPausedWorld('backfill-request');
  expect(await list()).toEqual([
    ...['00:00 missed', '01:00 started', '02:00 missed', '03:00 missed', '04:00 missed'],
    ...['05:00 planned', '06:00 planned'],
  ]);
  expect(await list(2)).toEqual(['00:00 missed', '01:00 started']);
  const range = { from: MIDNIGHT + HOUR_MS, to: MIDNIGHT + 3 * HOUR_MS };
  const expected = { planned: [MIDNIGHT + 2 * HOUR_MS, MIDNIGHT + 3 * HOUR_MS], timezone: 'UTC' };
  expect(await backfill({ ...range, dryRun: true })).toMatchObject({ ok: true, value: expected });
  expect(await list()).toContain('02:00 missed');
  const requested = await backfill(range);
  expect(requested).toMatchObject({ ok: true, value: { ...expected, existing: [{ planned: range.from }] } });
  // A repeated request finds what the first one has recorded.
  expect(await backfill(range)).toMatchObject({ ok: true, value: { planned: [] } });
  await world.pass(5 * MINUTE_MS);
  await world.rig.go(watcher.schedule.close());
  const order = watcher.said().filter((text) => /02:00|03:00/.test(text));
  expect(order).toEqual(['started 02:00', 'finished 02:00', 'started 03:00', 'finished 03:00']);
  expect((await list()).slice(1, 5)).toEqual(['01:00 started', '02:00 started', '03:00 started', '04:00 missed']);
});

test('a later process executes what was recorded while none was running', async () => {
  const { world, watcher, backfill } = await createPausedWorld('backfill-later');
  await world.rig.go(watcher.schedule.close());
  await backfill({ from: MIDNIGHT + 2 * HOUR_MS, to: MIDNIGHT + 2 * HOUR_MS });
  const later = world.watch({ overlap: 'allow' });
  await world.pass(5 * MINUTE_MS);
  await world.rig.go(later.schedule.close());
  expect(later.said()).toEqual(['started 02:00', 'finished 02:00']);
});

test('ranges that cannot be run are refused', async () => {
  const { world, watcher, backfill } = await createPausedWorld('backfill-refused');
  await world.rig.go(watcher.schedule.close());
  const refusal = async (from: number, to: number) => {
    const done = await backfill({ from, to });
    return done.ok ? undefined : done.error;
  };
  expect(await refusal(MIDNIGHT, MIDNIGHT + 9 * HOUR_MS)).toContain('ends in the future');
  expect(await refusal(MIDNIGHT + HOUR_MS, MIDNIGHT)).toContain('ends before it begins');
  expect(await refusal(MIDNIGHT + 1, MIDNIGHT + 2)).toContain('contains no planned time');
  expect(await refusal(MIDNIGHT - 200 * HOUR_MS, MIDNIGHT)).toContain('more than 100 planned times without a run');
});
