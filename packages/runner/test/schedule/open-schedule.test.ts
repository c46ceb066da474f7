import { describe, expect, test } from 'vitest';
import { createScheduleWorld, HOUR_MS, hourAndMinute, MINUTE_MS } from './schedule-world.ts';

const LONG = { behave: { a: { runMs: 90 * MINUTE_MS } } };

describe('openSchedule', () => {
  test('runs each planned time once, and nothing that was planned before it was first watched', async () => {
    const world = createScheduleWorld('hourly');
    await world.pass(30 * MINUTE_MS);
    const { schedule, said } = world.watch();
    await world.pass(3 * HOUR_MS);
    await world.rig.go(schedule.close());
    expect(world.starts()).toEqual(['01:00', '02:00', '03:00']);
    expect(said()).toEqual(['01:00', '02:00', '03:00'].flatMap((time) => [`started ${time}`, `finished ${time}`]));
  });

  test('rejects a schedule that never comes, and a pipeline without one', () => {
    const world = createScheduleWorld('never');
    expect(() => world.open({ cron: ['0 0 31 2 *'] })).toThrow('never matches any time');
    expect(() => world.open({ timezone: 'Mars/Base' })).toThrow('Mars/Base');
  });

  test('overlap skip skips a time while a run is in progress', async () => {
    const world = createScheduleWorld('skip', LONG);
    const { said } = world.watch({ overlap: 'skip' });
    await world.pass(4 * HOUR_MS);
    expect(world.starts()).toEqual(['01:00', '03:00']);
    expect(said()).toContain('skipped 02:00');
  });

  test('overlap allow starts it all the same', async () => {
    const world = createScheduleWorld('allow', LONG);
    world.watch({ overlap: 'allow' });
    await world.pass(3 * HOUR_MS + MINUTE_MS);
    expect(world.starts()).toEqual(['01:00', '02:00', '03:00']);
  });

  test('overlap queue starts the next run when the previous one has ended', async () => {
    const world = createScheduleWorld('queue', LONG);
    world.watch({ overlap: 'queue' });
    await world.pass(6 * HOUR_MS);
    expect(world.starts()).toEqual(['01:00', '02:30', '04:00', '05:30']);
  });

  test('overlap replace cancels the one before and waits for its end', async () => {
    const world = createScheduleWorld('replace', LONG);
    const { said, events } = world.watch({ overlap: 'replace' });
    await world.pass(2 * HOUR_MS + MINUTE_MS);
    expect(world.starts()).toEqual(['01:00', '02:00']);
    expect(said()).toEqual(['started 01:00', 'finished 01:00', 'started 02:00']);
    expect(events.find(({ type }) => type === 'scheduledRunFinished')).toMatchObject({ status: 'canceled' });
  });

  test('a queued run whose starting deadline passes is dropped', async () => {
    const world = createScheduleWorld('deadline', LONG);
    const { said } = world.watch({ overlap: 'queue', startingDeadlineMs: 20 * MINUTE_MS });
    await world.pass(3 * HOUR_MS + MINUTE_MS);
    expect(world.starts()).toEqual(['01:00', '03:00']);
    expect(said()).toContain('skipped 02:00');
  });

  test.each([
    ['none', [], ['05:00']],
    ['latest', ['04:00'], ['05:00']],
    ['all', ['02:00', '03:00', '04:00'], ['05:00']],
  ] as const)('catchup %s after an outage', async (catchup, caughtUp, later) => {
    const world = createScheduleWorld(`catchup-${catchup}`);
    const before = world.watch({ catchup });
    await world.pass(HOUR_MS + MINUTE_MS);
    before.process.kill();
    await world.pass(3 * HOUR_MS + 10 * MINUTE_MS);
    const after = world.watch({ catchup });
    await world.pass(HOUR_MS);
    const started = after.said().filter((text) => text.startsWith('started'));
    expect(started).toEqual([...caughtUp, ...later].map((time) => `started ${time}`));
    expect(world.starts()).toHaveLength(1 + started.length);
    expect(after.events.some(({ type }) => type === 'plannedTimesMissed')).toBe(catchup !== 'all');
  });

  test('two schedulers at once neither miss nor double a time, with working locks and without', async () => {
    for (const locksWork of [true, false]) {
      const world = createScheduleWorld(`two-${locksWork}`);
      world.rig.disk.locksWork = locksWork;
      const watchers = [world.watch(), world.watch()];
      await world.pass(5 * HOUR_MS + MINUTE_MS);
      expect(world.starts(), `locks ${locksWork}`).toEqual(['01:00', '02:00', '03:00', '04:00', '05:00']);
      await world.rig.go(Promise.all(watchers.map(({ schedule }) => schedule.close())));
    }
  });

  test('a scheduler continues where another one was killed', async () => {
    const world = createScheduleWorld('survivor', LONG);
    const watchers = [world.watch({ overlap: 'queue' }), world.watch({ overlap: 'queue' })];
    await world.pass(HOUR_MS + MINUTE_MS);
    const driver = watchers.find(({ said }) => said().length > 0)!;
    const other = watchers.find((watcher) => watcher !== driver)!;
    expect([driver.said(), other.said()]).toEqual([['started 01:00'], []]);
    driver.process.kill();
    await world.pass(3 * HOUR_MS);
    expect(world.starts()).toEqual(['01:00', '02:30', '04:00']);
    expect(other.said().slice(0, 2)).toEqual(['resumed 01:00', 'finished 01:00']);
  });

  test('killed at any operation around a planned time, it starts that time once after all', async () => {
    let operation = 0;
    for (let died = true; died; operation++) {
      const world = createScheduleWorld(`killed-${operation}`);
      let from = Number.POSITIVE_INFINITY;
      const watcher = world.open({ catchup: 'all' }, (number, when) => {
        if (world.rig.clock.now() < Date.UTC(2026, 0, 1, 1)) from = number + 1;
        else if (when === 'after' && number === from + operation) watcher.process.kill();
      });
      void watcher.schedule.watch();
      await world.pass(HOUR_MS + MINUTE_MS);
      died = !watcher.process.alive;
      watcher.process.kill();
      world.watch({ catchup: 'all' });
      await world.pass(30 * MINUTE_MS);
      expect(world.starts(), `killed after operation ${operation}`).toHaveLength(1);
      expect(world.records(), `killed after operation ${operation}`).toEqual(['01-00-00']);
    }
    expect(operation).toBeGreaterThan(20);
  });

  test('a record whose run never began is started under the ID that it names', async () => {
    const world = createScheduleWorld('record-only');
    const planned = Date.UTC(2026, 0, 1, 1);
    const record = { decision: 'start', planned, cause: 'time', runId: 'recordedruniq' };
    world.rig.disk.files.set(
      '/home/schedules/hourly/2026-01-01T01-00-00Z.json',
      Buffer.from(`${JSON.stringify(record)}\n`),
    );
    await world.pass(HOUR_MS + 10_000);
    const { events } = world.watch();
    await world.pass(MINUTE_MS);
    expect(events[0]).toMatchObject({ type: 'scheduledRunStarted', plannedAt: planned, runId: 'recordedruniq' });
    expect(world.starts()).toEqual(['01:00']);
  });

  test('a clock that is set back runs nothing again', async () => {
    const world = createScheduleWorld('back');
    const { said } = world.watch();
    await world.pass(2 * HOUR_MS + MINUTE_MS);
    world.rig.clock.jump(-90 * MINUTE_MS);
    await world.pass(2 * HOUR_MS + 30 * MINUTE_MS);
    expect(said().filter((text) => text.startsWith('started'))).toEqual([
      'started 01:00',
      'started 02:00',
      'started 03:00',
    ]);
    expect(world.starts()).toHaveLength(3);
  });

  test('a clock that was far ahead for a while costs no time after it was put right', async () => {
    const world = createScheduleWorld('ahead');
    const { said } = world.watch({ catchup: 'latest' });
    await world.pass(HOUR_MS + MINUTE_MS);
    world.rig.clock.jump(1000 * HOUR_MS);
    await world.pass(MINUTE_MS);
    world.rig.clock.jump(-1000 * HOUR_MS);
    await world.pass(2 * HOUR_MS);
    const started = said().filter((text) => text.startsWith('started'));
    expect(started).toEqual(['started 01:00', expect.any(String), 'started 02:00', 'started 03:00']);
    expect(world.starts()).toHaveLength(4);
  });

  test('a clock that is set forward catches up as after an outage', async () => {
    const world = createScheduleWorld('forward');
    const { said } = world.watch({ catchup: 'all' });
    await world.pass(10 * MINUTE_MS);
    world.rig.clock.jump(3 * HOUR_MS);
    await world.pass(MINUTE_MS);
    expect(said().filter((text) => text.startsWith('started'))).toEqual([
      'started 01:00',
      'started 02:00',
      'started 03:00',
    ]);
  });

  test('an edited schedule restarts at the present time and catches up with nothing', async () => {
    const world = createScheduleWorld('edited');
    const before = world.watch({ cron: ['0 0 * * *'], catchup: 'all' });
    await world.pass(HOUR_MS + MINUTE_MS);
    await world.rig.go(before.schedule.close());
    const { events } = world.watch({ cron: ['*/30 * * * *'], catchup: 'all' });
    await world.pass(30 * MINUTE_MS);
    expect(world.starts()).toEqual(['01:30']);
    expect(events.map(({ type }) => type)).toEqual(['scheduleChanged', 'scheduledRunStarted', 'scheduledRunFinished']);
  });

  test('processes with other times that are started in turn each name the times of both', async () => {
    const world = createScheduleWorld('in turn');
    const told: string[] = [];
    for (const minute of ['0', '30', '0', '30']) {
      const { schedule, events } = world.open({ cron: [`${minute} * * * *`], catchup: 'all' });
      expect(await world.rig.go(schedule.runDue())).toBe(true);
      told.push(...events.map((event) => ('message' in event ? event.message : event.type)));
      await world.rig.go(schedule.close());
      await world.pass(HOUR_MS);
    }
    expect(world.starts()).toEqual([]);
    expect(told).toEqual([
      expect.stringContaining('(0 * * * * UTC at the last start, 30 * * * * UTC now)'),
      expect.stringContaining('(30 * * * * UTC at the last start, 0 * * * * UTC now)'),
      expect.stringContaining('(0 * * * * UTC at the last start, 30 * * * * UTC now)'),
    ]);
  });

  test('a second process with other times starts nothing and says so, until the first one has ended', async () => {
    const world = createScheduleWorld('rivals');
    const first = world.watch();
    await world.pass(MINUTE_MS);
    const second = world.watch({ cron: ['*/30 * * * *'] });
    await world.pass(HOUR_MS + MINUTE_MS);
    expect(first.said()).toEqual(['started 01:00', 'finished 01:00']);
    expect(second.events).toMatchObject([
      {
        type: 'scheduleBlocked',
        message: expect.stringContaining('another process watches it with other times (0 * * * * UTC)'),
      },
    ]);
    expect(await world.rig.go(world.open({ cron: ['*/5 * * * *'] }).schedule.runDue())).toBe(false);
    first.process.kill();
    await world.pass(30 * MINUTE_MS);
    expect(second.said()).toEqual(['started 01:30', 'finished 01:30']);
    expect(world.starts()).toEqual(['01:00', '01:30']);
  });

  test('close leaves runs to themselves, and the next one takes them up', async () => {
    const world = createScheduleWorld('left', LONG);
    const before = world.watch();
    await world.pass(HOUR_MS + MINUTE_MS);
    await world.rig.go(before.schedule.close());
    expect(before.said()).toEqual(['started 01:00', 'suspended 01:00']);
    const after = world.watch();
    await world.pass(90 * MINUTE_MS);
    expect(after.said()).toContain('finished 01:00');
    expect(world.starts()).toEqual(['01:00']);
  });

  test('close at any operation starts and resumes nothing more', async () => {
    const said = new Set<string>();
    // The last ones are of polls while the run is in progress.
    for (let operation = 0; operation < 150; operation++) {
      const world = createScheduleWorld('close', { behave: { a: { runMs: HOUR_MS } } });
      let closing: Promise<void> | undefined;
      let from = Number.POSITIVE_INFINITY;
      const watcher = world.open({}, (number, when) => {
        if (world.rig.clock.now() < Date.UTC(2026, 0, 1, 1)) from = number + 1;
        else if (when === 'after' && number === from + operation) closing = watcher.schedule.close();
      });
      void watcher.schedule.watch();
      await world.pass(HOUR_MS + 2 * MINUTE_MS);
      await world.rig.go(closing!);
      said.add(watcher.said().join(', '));
    }
    expect([...said].sort()).toEqual(['', 'started 01:00, suspended 01:00']);
  });

  test('a run that has begun is not given up because it cannot be taken up now', async () => {
    const world = createScheduleWorld('rejected', { behave: { a: { runMs: 3 * HOUR_MS } } });
    const first = world.watch();
    await world.pass(HOUR_MS + MINUTE_MS);
    await world.rig.go(first.schedule.close());
    const [journal = ''] = [...world.rig.disk.files.keys()].filter((file) => file.endsWith('/journal.ndjson'));
    const bytes = world.rig.disk.files.get(journal)!;
    world.rig.disk.files.set(
      journal,
      Buffer.from(Buffer.from(bytes).toString().replace('"kind":"run"', '"kind":"r.n"')),
    );
    const second = world.watch();
    await world.pass(HOUR_MS + MINUTE_MS);
    expect([...new Set(second.said())]).toEqual(['postponed 01:00', 'skipped 02:00']);
    world.rig.disk.files.set(journal, bytes);
    await world.pass(MINUTE_MS);
    expect(second.said().at(-1)).toBe('resumed 01:00');
    expect(world.rig.created()).toHaveLength(1);
    await world.rig.go(second.schedule.close());
  });

  test('a full disk is reported once, and the schedule continues', async () => {
    const world = createScheduleWorld('full disk');
    const { events } = world.watch();
    await world.pass(59 * MINUTE_MS);
    world.rig.disk.room = 10;
    await world.pass(5 * MINUTE_MS);
    expect(events.map(({ type }) => type)).toEqual(['scheduleBlocked', 'plannedTimesMissed']);
    world.rig.disk.room = Number.POSITIVE_INFINITY;
    await world.pass(HOUR_MS);
    expect(world.starts()).toEqual(['02:00']);
  });

  test('runDue runs what has come since the last time, to its end', async () => {
    const world = createScheduleWorld('once');
    const first = world.open({ catchup: 'all' });
    expect(await world.rig.go(first.schedule.runDue())).toBe(true);
    expect(world.starts()).toEqual([]);
    await world.pass(3 * HOUR_MS + MINUTE_MS);
    const second = world.open({ catchup: 'all' });
    expect(await world.rig.go(second.schedule.runDue())).toBe(true);
    expect(second.said()).toEqual(
      ['01:00', '02:00', '03:00'].flatMap((time) => [`started ${time}`, `finished ${time}`]),
    );
  });

  test('runDue says when a run has failed', async () => {
    const world = createScheduleWorld('once-failed', { behave: { a: { end: 'Failed', exitCode: 1 } } });
    await world.rig.go(world.open({ catchup: 'all' }).schedule.runDue());
    await world.pass(HOUR_MS);
    expect(await world.rig.go(world.open({ catchup: 'all' }).schedule.runDue())).toBe(false);
  });

  test('backfill runs the times of a range in order, leaves out what ran before, and can be taken up', async () => {
    const world = createScheduleWorld('backfill', LONG);
    const range = { from: Date.UTC(2025, 11, 31, 20), to: Date.UTC(2025, 11, 31, 23, 30) };
    const first = world.open();
    void first.schedule.backfill(range);
    await world.pass(2 * HOUR_MS);
    expect(first.said()).toEqual(['started 20:00', 'finished 20:00', 'started 21:00']);
    first.process.kill();
    const second = world.open();
    expect(await world.rig.go(second.schedule.backfill(range))).toBe(true);
    expect(second.said()).toEqual([
      'skipped 20:00',
      'resumed 21:00',
      'finished 21:00',
      'started 22:00',
      'finished 22:00',
      'started 23:00',
      'finished 23:00',
    ]);
    expect(world.starts()).toHaveLength(4);
    const third = world.open();
    await world.rig.go(third.schedule.backfill(range));
    expect(third.said().every((text) => text.startsWith('skipped'))).toBe(true);
  });

  test('a backfill says nothing about the times before it, and takes its turn', async () => {
    const world = createScheduleWorld('backfill beside', LONG);
    const watcher = world.watch({ overlap: 'queue' });
    await world.pass(HOUR_MS + MINUTE_MS);
    const other = world.open({ overlap: 'queue' });
    const planned = Date.UTC(2025, 11, 31, 12);
    expect(await world.rig.go(other.schedule.backfill({ from: planned, to: planned }))).toBe(true);
    expect(world.starts()).toEqual(['01:00', '02:30', '04:00']);
    expect([...watcher.said(), ...other.said()]).toContain('started 12:00');
    await world.pass(HOUR_MS);
    expect(hourAndMinute(world.rig.clock.now())).toBe('05:00');
    expect(world.starts()).toEqual(['01:00', '02:30', '04:00']);
  });
});
