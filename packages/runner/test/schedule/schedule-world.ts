import type { Schedule } from '@sluice/core';
import type { ScheduleEvent } from '@sluice/home';
import type { RunSettings } from '@sluice/run';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { type OpenSchedule, openSchedule } from '../../src/schedule/open-schedule.ts';
import type { RunnerOptions } from '../../src/session/run-options.ts';
import { createRig, type Rig, type RigOptions } from '../simulation/rig.ts';
import { createProcess, type SimulatedProcess } from '../simulation/simulated-process.ts';

/** A process that looks after a schedule, and everything that it said. */
export interface Watcher {
  readonly process: SimulatedProcess;
  readonly schedule: OpenSchedule;
  readonly events: ScheduleEvent[];
  /** What its events say about single planned times, for example `started 01:00`. */
  said(): string[];
}

/** A rig with a schedule of one step; virtual time begins at midnight, 1 January 2026. */
export interface ScheduleWorld {
  readonly rig: Rig;
  open(given?: GivenSchedule, onOperation?: (number: number, when: 'before' | 'after') => void): Watcher;
  /** Opens a watcher and lets it watch. */
  watch(given?: GivenSchedule): Watcher;
  /** Moves time on. */
  pass(ms: number): Promise<void>;
  /** `HH:MM` of the start of every container. */
  starts(): string[];
  /** The files in the home, below `schedules`. */
  records(): string[];
}

type GivenSchedule = Partial<Schedule> & { readonly settings?: RunSettings };

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

const HOURLY: Schedule = { cron: ['0 * * * *'], timezone: 'UTC', overlap: 'skip', catchup: 'none' };

export function createScheduleWorld(seed: string, options: RigOptions = {}): ScheduleWorld {
  const rig = createRig(seed, options);
  const world: ScheduleWorld = {
    rig,
    open({ settings, ...given } = {}, onOperation) {
      const events: ScheduleEvent[] = [];
      const { clock, disk, service } = rig.options as Required<RunnerOptions>;
      const process = createProcess({ clock, disk, service, ...(onOperation && { onOperation }) });
      const plan = createHandPlan([createStep('a', { command: ['true'] })], {
        name: 'hourly',
        schedule: { ...HOURLY, ...given },
      });
      const opened = openSchedule({
        ...rig.options,
        clock: process.clock,
        disk: process.disk,
        service: process.service,
        plan,
        ...(settings && { settings }),
        baseDir: '/base',
        onEvent: (event) => void (process.alive && events.push(event)),
      });
      if (!opened.ok) throw new Error(opened.error);
      const said = () =>
        events.flatMap((event) => {
          const verb = event.type.replace(/^(scheduledRun|plannedTime)/, '').toLowerCase();
          return 'plannedAt' in event ? [`${verb} ${hourAndMinute(event.plannedAt)}`] : [];
        });
      return { process, schedule: opened.value, events, said };
    },
    watch(given) {
      const watcher = world.open(given);
      watcher.schedule.watch().catch((error: unknown) => {
        queueMicrotask(() => {
          throw error;
        });
      });
      return watcher;
    },
    async pass(ms) {
      await rig.go(rig.clock.delay(ms));
    },
    starts: () => rig.created().map(({ createdAt }) => hourAndMinute(createdAt)),
    records: () =>
      [...rig.disk.files.keys()].flatMap((file) => (/^\/home\/schedules\/.*T(.*)Z\.json$/.exec(file) ?? []).slice(1)),
  };
  return world;
}

export function hourAndMinute(time: number): string {
  return new Date(time).toISOString().slice(11, 16);
}
