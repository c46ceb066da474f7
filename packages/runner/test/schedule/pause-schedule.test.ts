import { listSchedules, pauseSchedule, type SchedulePlace, unpauseSchedule } from '@sluice/home';
import { expect, test } from 'vitest';
import type { RunnerOptions } from '../../src/session/run-options.ts';
import { createProcess, type SimulatedProcess } from '../simulation/simulated-process.ts';
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
  expect(events.filter(({ type }) => type === 'schedulePaused')).toHaveLength(1);
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
  expect(await list()).toEqual([{ name: 'hourly', timezone: 'UTC', next: [now + 30 * MINUTE_MS] }]);
  await world.rig.go(pauseSchedule({ ...placeOf(world), by: 'ada' }));
  expect(await list()).toEqual([{ name: 'hourly', timezone: 'UTC', next: [], pausedAt: expect.any(Number) }]);
  await world.rig.go(schedule.close());
});

test('pauseSchedule rejects an unknown name', async () => {
  const world = createScheduleWorld('paused-unknown');
  const { schedule } = world.watch();
  await world.pass(MINUTE_MS);
  const rejected = await world.rig.go(pauseSchedule({ ...placeOf(world), name: 'hurly', by: 'ada' }));
  expect(rejected).toMatchObject({ ok: false, error: expect.stringContaining('this home has no schedule hurly') });
  await world.rig.go(schedule.close());
});

test.each(['pause', 'unpause'] as const)(
  'a kill at any operation of %s leaves the schedule as before or as after',
  async (verb) => {
    let kills = 0;
    for (let wasComplete = false; !wasComplete; kills++) {
      const world = createScheduleWorld(`killed-${verb}-${kills}`);
      const first = world.watch({ catchup: 'all' });
      await world.pass(30 * MINUTE_MS);
      first.process.kill();
      const change = (place: SchedulePlace) =>
        verb === 'pause' ? pauseSchedule({ ...place, by: 'ada' }) : unpauseSchedule(place);
      if (verb === 'unpause') await world.rig.go(pauseSchedule({ ...placeOf(world), by: 'ada' }));
      await world.pass(2 * HOUR_MS);
      const { clock, disk, service } = world.rig.options as Required<RunnerOptions>;
      const process: SimulatedProcess = createProcess({
        ...{ clock, disk, service },
        onOperation: (number, when) => when === 'after' && number === kills + 1 && process.kill(),
      });
      const done = change({ ...placeOf(world), disk: process.disk, clock: process.clock });
      await world.rig.go(Promise.race([done, process.died]));
      wasComplete = process.alive;
      const isPaused = (await world.rig.go(listSchedules(placeOf(world))))[0]?.pausedAt !== undefined;
      const later = world.watch({ catchup: 'all' });
      await world.pass(HOUR_MS);
      await world.rig.go(later.schedule.close());
      // Without a pause, all times are caught up; after `unpause`, only later ones run.
      const expected = isPaused ? [] : verb === 'pause' ? ['02:30', '02:30', '03:00'] : ['03:00'];
      expect(world.starts(), `after operation ${kills + 1}`).toEqual(expected);
      expect(await world.rig.go(change(placeOf(world)))).toMatchObject({ ok: true });
    }
    expect(kills).toBeGreaterThan(3);
  },
);
