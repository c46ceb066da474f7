import { createSystemClock, openJournal, readJournal, resumeClock, runDirectory } from '@sluice/home';
import type { JournalRecord } from '@sluice/run';
import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig, type RigOptions } from '../simulation/rig.ts';
import { createProcess } from '../simulation/simulated-process.ts';
import { createVirtualClock } from '../simulation/virtual-clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const retry = {
  ...createStep('a').retry,
  limit: 1,
  on: ['failed'],
  backoff: { initialMs: 4000, factor: 1, maxMs: 4000 },
} as const;

/** A world whose runners are processes of a machine: its clock can be set while they live and between them. */
function createWorld(seed: string, behave: RigOptions['behave'] = {}) {
  const rig = createRig(seed, { behave });
  const step = createStep('a', { timeoutMs: HOUR, retry });
  const next = () => {
    const { clock, disk, service } = rig.options as Required<typeof rig.options>;
    const process = createProcess({ clock, disk, service });
    return { process, options: { ...rig.options, clock: process.clock, disk: process.disk, service: process.service } };
  };
  return {
    rig,
    /** Moves time on until the runner reports this status of the step. */
    until: (status: string, message = '') =>
      rig.until(() =>
        rig.events.some(
          (event) =>
            event.type === 'cellChanged' && event.status === status && (event.message ?? '').startsWith(message),
        ),
      ),
    async start(runId?: string) {
      const { process, options } = next();
      const id = runId === undefined ? {} : { runId };
      const started = await rig.go(startRun({ ...options, ...id, plan: createHandPlan([step]), baseDir: '/base' }));
      if (!started.ok) throw new Error(started.error.message);
      return { process, handle: started.value };
    },
    /** A process that dies when it has opened the journal of a run and written nothing else. */
    async dieBeforeHeader(runId: string) {
      const { process, options } = next();
      const opened = await rig.go(
        openJournal(runDirectory(options.home, runId), { ...options, reject: () => undefined }),
      );
      if (!opened.ok) throw new Error(opened.error.message);
      await rig.go(opened.value.journal.commit());
      process.kill();
    },
    async resume(runId: string) {
      const resumed = await rig.go(resumeRun({ ...next().options, runId }));
      if (!resumed.ok) throw new Error(resumed.error.message);
      return resumed.value;
    },
    /** How long the run took in truth, in minutes. */
    async minutesOf<T>(promise: Promise<T>): Promise<{ report: T; minutes: number }> {
      const begun = rig.clock.now();
      const report = await rig.go(promise);
      return { report, minutes: Math.round((rig.clock.now() - begun) / MINUTE) };
    },
  };
}

test.each([DAY, -DAY])('a clock that is set by %s ms cancels nothing and delays nothing', async (ms) => {
  const world = createWorld('jump', { a: { runMs: 10 * MINUTE, end: 'Failed', exitCode: 1 } });
  const { handle } = await world.start();
  await world.until('running');
  world.rig.clock.jump(ms);
  const { report, minutes } = await world.minutesOf(handle.finished);
  expect(report.steps[0]).toMatchObject({ status: 'failed', cells: [{ attempt: 2 }] });
  expect(minutes).toBe(20);
  expect(report.endedAt! - report.startedAt!).toBeLessThan(21 * MINUTE);
});

test.each([DAY, -DAY])(
  'a clock that is set by %s ms before a second try to start a run changes no time',
  async (ms) => {
    const world = createWorld('second try');
    await world.dieBeforeHeader('secondtryabcd');
    world.rig.clock.jump(ms);
    const begun = world.rig.clock.now();
    const { handle } = await world.start('secondtryabcd');
    const report = await world.rig.go(handle.finished);
    expect(report.endedAt! - report.startedAt!).toBeLessThan(MINUTE);
    const journal = await readJournal(world.rig.disk, runDirectory(world.rig.options.home, 'secondtryabcd'));
    const records = journal.ok ? journal.value.records : [];
    expect(records.find(({ kind }) => kind === 'run')).toMatchObject({ at: begun });
  },
);

test('a clock that is set back during a back-off does not prolong it', async () => {
  const world = createWorld('back-off', { a: { end: 'Failed', exitCode: 1 } });
  const { handle } = await world.start();
  await world.until('ready', 'attempt 2 starts at');
  world.rig.clock.jump(-HOUR);
  expect((await world.minutesOf(handle.finished)).minutes).toBe(0);
});

test.each([DAY, -DAY])('a clock that is set by %s ms between two runners of one boot changes no time', async (ms) => {
  const world = createWorld('resumed', { a: { runMs: 50 * MINUTE } });
  const { process, handle } = await world.start();
  await world.until('running');
  process.kill();
  await world.rig.go(world.rig.clock.delay(30 * MINUTE));
  world.rig.clock.jump(ms);
  const resumed = await world.resume(handle.runId);
  const { report, minutes } = await world.minutesOf(resumed.finished);
  expect(report).toMatchObject({ status: 'succeeded' });
  expect(minutes).toBe(20);
  expect(Math.round((report.endedAt! - report.startedAt!) / MINUTE)).toBe(50);
});

test('the time between two runners of one boot counts for a timeout', async () => {
  const world = createWorld('counted', { a: { runMs: 5 * HOUR } });
  const { process, handle } = await world.start();
  await world.until('running');
  process.kill();
  await world.rig.go(world.rig.clock.delay(59 * MINUTE));
  world.rig.clock.jump(-DAY);
  const { report, minutes } = await world.minutesOf((await world.resume(handle.runId)).finished);
  expect(report.steps[0]).toMatchObject({ status: 'failed', reason: 'timeout' });
  expect(minutes).toBe(1);
});

test('the time that a container ran before a runner first observed it counts for its timeout', async () => {
  const world = createWorld('unseen', { a: { pendingMs: 10 * MINUTE, runMs: 5 * HOUR } });
  const { process, handle } = await world.start();
  await world.until('pending');
  process.kill();
  await world.rig.go(world.rig.clock.delay(50 * MINUTE));
  const { report, minutes } = await world.minutesOf((await world.resume(handle.runId)).finished);
  expect(report.steps[0]).toMatchObject({ status: 'failed', reason: 'timeout' });
  expect(minutes).toBe(20);
  const { startTime = '', endTime = '' } = world.rig.created()[0]!.wire;
  expect(Date.parse(endTime) - Date.parse(startTime)).toBeGreaterThanOrEqual(HOUR);
});

test('a timeout that has passed while no runner was attached ends the attempt at once', async () => {
  const world = createWorld('overdue', { a: { pendingMs: 10 * MINUTE, runMs: 5 * HOUR } });
  const { process, handle } = await world.start();
  await world.until('pending');
  process.kill();
  await world.rig.go(world.rig.clock.delay(3 * HOUR));
  const { report, minutes } = await world.minutesOf((await world.resume(handle.runId)).finished);
  expect(report.steps[0]).toMatchObject({ status: 'failed', reason: 'timeout' });
  expect(minutes).toBe(0);
});

test('after another boot, a clock that was set back stands still until the run goes on', async () => {
  const world = createWorld('rebooted', { a: { end: 'Failed', exitCode: 1 } });
  const { process, handle } = await world.start();
  await world.until('ready', 'attempt 2 starts at');
  process.kill();
  world.rig.clock.reboot();
  world.rig.clock.jump(-DAY);
  expect((await world.minutesOf((await world.resume(handle.runId)).finished)).minutes).toBe(0);
});

test('resumeClock goes by the calendar where the journal has no boot', () => {
  const clock = createVirtualClock();
  const old: JournalRecord[] = [
    { kind: 'opened', at: clock.now() - HOUR, epoch: 1, host: 'h', pid: 1 },
    { kind: 'event', event: { type: 'tick', at: clock.now() - MINUTE } },
  ];
  expect(resumeClock(clock, old).now()).toBe(clock.now());
  const ahead: JournalRecord[] = [...old, { kind: 'event', event: { type: 'tick', at: clock.now() + MINUTE } }];
  expect(resumeClock(clock, ahead).now()).toBe(clock.now() + MINUTE);
  expect(resumeClock(clock, []).now()).toBe(clock.now());
});

test('resumeClock does not believe an uptime that contradicts the journal', () => {
  const clock = createVirtualClock();
  const boot = { id: clock.boot()!.id, uptimeMs: clock.boot()!.uptimeMs + HOUR };
  const records: JournalRecord[] = [{ kind: 'opened', at: clock.now() - HOUR, epoch: 1, host: 'h', pid: 1, boot }];
  expect(resumeClock(clock, records).now()).toBe(clock.now());
});

test('createSystemClock goes on by itself while the machine shows another time', () => {
  const clock = createSystemClock();
  const before = clock.now();
  const { now } = Date;
  try {
    Date.now = () => now() + DAY;
    expect(clock.now() - before).toBeLessThan(MINUTE);
    expect(clock.wall() - before).toBeGreaterThan(DAY - MINUTE);
  } finally {
    Date.now = now;
  }
  expect(clock.boot()?.id).toMatch(/^[0-9a-f-]{36}$/);
});
