import { describeSettingsChange, listSchedules, readScheduleSettings, recordScheduleSettings } from '@sluice/home';
import { MAX_PARAM_LENGTH, type RunSettings } from '@sluice/run';
import { expect, test } from 'vitest';
import { createScheduleWorld, HOUR_MS, MINUTE_MS, type ScheduleWorld } from './schedule-world.ts';

const PROD: RunSettings = { params: { target: 'prod' } };
const TEST: RunSettings = { params: { target: 'test' } };
const BLOCKED = 'another command has changed its settings (parameter target from "prod" to "test")';

function placeOf({ rig }: ScheduleWorld) {
  return { home: '/home', name: 'hourly', disk: rig.disk, clock: rig.clock };
}

const record = (world: ScheduleWorld, settings: RunSettings) =>
  world.rig.go(recordScheduleSettings({ ...placeOf(world), settings }));

test('a process whose settings were changed starts nothing more, and one with the new ones does', async () => {
  const world = createScheduleWorld('settings');
  expect(await record(world, PROD)).toEqual({ ok: true, value: undefined });
  const before = world.watch({ settings: PROD });
  await world.pass(HOUR_MS + 30 * MINUTE_MS);
  expect(await record(world, TEST)).toEqual({ ok: true, value: PROD });
  await world.pass(2 * HOUR_MS);
  expect(world.starts()).toEqual(['01:00']);
  const blocked = before.events.filter(({ type }) => type === 'scheduleBlocked');
  expect(blocked).toMatchObject([{ message: expect.stringContaining(BLOCKED) }]);
  const after = world.watch({ settings: TEST, catchup: 'latest' });
  await world.pass(HOUR_MS);
  await world.rig.go(before.schedule.close());
  await world.rig.go(after.schedule.close());
  expect(after.said()).toEqual(['started 03:00', 'finished 03:00', 'started 04:00', 'finished 04:00']);
  expect(await world.rig.go(readScheduleSettings(placeOf(world)))).toEqual(TEST);
  expect(await world.rig.go(listSchedules(placeOf(world)))).toMatchObject([{ settings: TEST }]);
});

test('a run that has begun continues when the settings are changed, and then a backfill ends', async () => {
  const world = createScheduleWorld('settings-backfill', { behave: { a: { runMs: 90 * MINUTE_MS } } });
  await record(world, PROD);
  await world.pass(4 * HOUR_MS);
  const { schedule, said, events } = world.open({ settings: PROD });
  const midnight = Date.UTC(2026, 0, 1);
  const done = schedule.backfill({ from: midnight + HOUR_MS, to: midnight + 3 * HOUR_MS });
  await world.pass(HOUR_MS);
  await record(world, TEST);
  expect(await world.rig.go(done)).toBe(false);
  expect(said()).toEqual(['started 01:00', 'finished 01:00']);
  expect(events.at(-1)).toMatchObject({ message: expect.stringContaining(BLOCKED) });
  const due = world.open({ settings: PROD });
  expect(await world.rig.go(due.schedule.runDue())).toBe(false);
  expect(due.said()).toEqual([]);
});

test('settings beyond the limits are rejected, and those before stay', async () => {
  const world = createScheduleWorld('settings-limits');
  await record(world, PROD);
  const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`p${index}`, '']));
  for (const params of [many, { target: 'x'.repeat(MAX_PARAM_LENGTH + 1) }, { '': 'x' }]) {
    const rejected = await record(world, { params });
    expect(rejected).toMatchObject({ ok: false, error: expect.stringContaining('could not record the settings of') });
  }
  expect(await world.rig.go(readScheduleSettings(placeOf(world)))).toEqual(PROD);
});

test('describeSettingsChange names each value that differs, and none of equal settings', () => {
  const service = 'http://127.0.0.1:1/';
  expect(describeSettingsChange(PROD, PROD)).toBeUndefined();
  expect(describeSettingsChange(PROD, { params: { other: '' }, service, cpu: 2 })).toBe(
    `parameter target from "prod" to its default, parameter other from its default to "", service from its default to "${service}", cpu from its default to 2`,
  );
  expect(describeSettingsChange(PROD, { ...PROD, labels: { team: 'vision' } })).toBe(
    'label team from its default to "vision"',
  );
});
