import { expect, test } from 'vitest';
import { listSchedules, pauseSchedule, unpauseSchedule } from '../../src/schedule/pause-schedule.ts';
import { createScheduleWorld, HOUR_MS, MINUTE_MS, type ScheduleWorld } from './schedule-world.ts';

function placeOf({ rig }: ScheduleWorld) {
  return { home: '/home', name: 'hourly', disk: rig.disk, clock: rig.clock };
}

test('a paused schedule starts nothing, and what was planned meanwhile is not caught up', async () => {
  const world = createScheduleWorld('paused');
  const { schedule, events } = world.watch({ catchup: 'all' });
  await world.pass(HOUR_MS + 30 * MINUTE_MS);
  const paused = await world.rig.go(pauseSchedule({ ...placeOf(world), by: 'ada' }));
  expect(paused).toEqual({ ok: true, value: undefined });
  await world.pass(2 * HOUR_MS);
  expect(events.filter(({ type }) => type === 'paused')).toHaveLength(1);
  await world.rig.go(unpauseSchedule(placeOf(world)));
  await world.pass(HOUR_MS);
  await world.rig.go(schedule.close());
  expect(world.starts()).toEqual(['01:00', '04:00']);
});

test('a pause holds for later processes, and while none is running', async () => {
  const world = createScheduleWorld('paused-restart');
  const before = world.watch({ catchup: 'all' });
  await world.pass(30 * MINUTE_MS);
  await world.rig.go(pauseSchedule({ ...placeOf(world), by: 'ada' }));
  before.process.kill();
  await world.pass(2 * HOUR_MS);
  const during = world.watch({ catchup: 'all' });
  await world.pass(HOUR_MS);
  during.process.kill();
  await world.rig.go(unpauseSchedule(placeOf(world)));
  await world.pass(HOUR_MS);
  const after = world.watch({ catchup: 'all' });
  await world.pass(MINUTE_MS);
  await world.rig.go(after.schedule.close());
  expect(world.starts()).toEqual(['04:30']);
});

test('a run that has begun continues in a paused schedule', async () => {
  const world = createScheduleWorld('paused-begun', { behave: { a: { runMs: 90 * MINUTE_MS } } });
  const before = world.watch();
  await world.pass(HOUR_MS + MINUTE_MS);
  before.process.kill();
  await world.rig.go(pauseSchedule({ ...placeOf(world), by: 'ada' }));
  const { said } = world.watch();
  await world.pass(2 * HOUR_MS);
  expect(said()).toEqual(['resumed 01:00', 'finished 01:00']);
  expect(world.starts()).toEqual(['01:00']);
});

test('listSchedules shows the next time, and the pause', async () => {
  const world = createScheduleWorld('paused-list');
  const { schedule } = world.watch();
  await world.pass(30 * MINUTE_MS);
  const list = () => world.rig.go(listSchedules(placeOf(world)));
  const now = world.rig.clock.wall();
  expect(await list()).toEqual([{ name: 'hourly', timezone: 'UTC', next: now + 30 * MINUTE_MS }]);
  await world.rig.go(pauseSchedule({ ...placeOf(world), by: 'ada' }));
  expect(await list()).toEqual([{ name: 'hourly', timezone: 'UTC', pausedAt: expect.any(Number) }]);
  await world.rig.go(schedule.close());
});

test('pauseSchedule refuses an unknown name', async () => {
  const world = createScheduleWorld('paused-unknown');
  const { schedule } = world.watch();
  await world.pass(MINUTE_MS);
  const refused = await world.rig.go(pauseSchedule({ ...placeOf(world), name: 'hurly', by: 'ada' }));
  expect(refused).toMatchObject({ ok: false, error: expect.stringContaining('this home has no schedule hurly') });
  await world.rig.go(schedule.close());
});
