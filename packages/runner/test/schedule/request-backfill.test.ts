import { listPlannedTimes, openScheduleRecords, pauseSchedule, requestBackfill } from '@sluice/home';
import { expect, test } from 'vitest';
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
  const list = async (limit = 100, onlyRecorded = false) => {
    const range = { from: MIDNIGHT, to: MIDNIGHT + 6 * HOUR_MS, limit, onlyRecorded };
    const listed = await world.rig.go(listPlannedTimes({ ...placeOf(world), ...range }));
    if (!listed.ok) throw new Error(listed.error);
    return listed.value.map(({ planned, status }) => `${hourAndMinute(planned)} ${status}`);
  };
  return { world, watcher, backfill, list };
}

test('the process that runs the schedule executes a backfill, one run after the other, also while it is paused', async () => {
  const { world, watcher, backfill, list } = await createPausedWorld('backfill-request');
  expect(await list()).toEqual([
    // Nothing of 00:00, when the schedule was first watched.
    ...['01:00 started', '02:00 missed', '03:00 missed', '04:00 missed'],
    ...['05:00 planned', '06:00 planned'],
  ]);
  expect(await list(2)).toEqual(['01:00 started', '02:00 missed']);
  expect(await list(100, true)).toEqual(['01:00 started']);
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
  expect((await list()).slice(0, 4)).toEqual(['01:00 started', '02:00 started', '03:00 started', '04:00 missed']);
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

test('ranges that cannot be run are rejected', async () => {
  const { world, watcher, backfill } = await createPausedWorld('backfill-rejected');
  await world.rig.go(watcher.schedule.close());
  const rejection = async (from: number, to: number) => {
    const done = await backfill({ from, to });
    return done.ok ? undefined : done.error;
  };
  expect(await rejection(MIDNIGHT, MIDNIGHT + 9 * HOUR_MS)).toContain('ends in the future');
  expect(await rejection(MIDNIGHT + HOUR_MS, MIDNIGHT)).toContain('ends before it begins');
  expect(await rejection(MIDNIGHT + 1, MIDNIGHT + 2)).toContain('contains no planned time');
  expect(await rejection(MIDNIGHT - 200 * HOUR_MS, MIDNIGHT)).toContain('more than 100 planned times without a run');
});

const YEAR = Date.UTC(2030, 0, 1);

/** As after a long time of a schedule that runs often. */
async function recordThousandLater(world: ScheduleWorld): Promise<void> {
  const records = openScheduleRecords(world.rig.disk, { home: '/home', name: 'hourly' });
  const write = async () => {
    for (let index = 0; index < 1_100; index++) {
      await records.create({ decision: 'skip', planned: YEAR + index * MINUTE_MS, cause: 'time', reason: 'later' });
    }
  };
  await world.rig.go(write());
}

test('a requested backfill behind a thousand later planned times is executed', async () => {
  const { world, watcher, backfill } = await createPausedWorld('backfill-behind');
  await recordThousandLater(world);
  await backfill({ from: MIDNIGHT + 2 * HOUR_MS, to: MIDNIGHT + 2 * HOUR_MS });
  await world.pass(2 * MINUTE_MS);
  await world.rig.go(watcher.schedule.close());
  expect(watcher.said()).toContain('finished 02:00');
  expect(world.rig.disk.files.has('/home/schedules/hourly/open/2026-01-01T02-00-00Z.json')).toBe(false);
});

test('a backfill by a command behind a thousand later planned times ends, also when it is repeated', async () => {
  const world = createScheduleWorld('backfill-command');
  await world.pass(4 * HOUR_MS);
  await recordThousandLater(world);
  const range = { from: MIDNIGHT + HOUR_MS, to: MIDNIGHT + 2 * HOUR_MS };
  const first = world.open();
  expect(await world.rig.go(first.schedule.backfill(range))).toBe(true);
  expect(first.said()).toEqual(['started 01:00', 'finished 01:00', 'started 02:00', 'finished 02:00']);
  expect(await world.rig.go(world.open().schedule.backfill(range))).toBe(true);
  // The garbage collection removes runs of that age.
  for (const file of [...world.rig.disk.files.keys()])
    if (file.startsWith('/home/runs/')) world.rig.disk.files.delete(file);
  const removed = world.open();
  expect(await world.rig.go(removed.schedule.backfill(range))).toBe(true);
  expect(removed.said()).toEqual(['skipped 01:00', 'skipped 02:00']);
  expect(world.starts()).toHaveLength(2);
});

test('a run that lasts while a thousand later planned times are recorded still counts as running', async () => {
  const world = createScheduleWorld('long-run', { behave: { a: { runMs: 90 * MINUTE_MS } } });
  const { schedule, said } = world.watch({ overlap: 'skip' });
  await world.pass(HOUR_MS + 10 * MINUTE_MS);
  await recordThousandLater(world);
  await world.pass(HOUR_MS);
  expect(said()).toEqual(['started 01:00', 'skipped 02:00']);
  await world.rig.go(schedule.close());
});
