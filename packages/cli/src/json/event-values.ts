import { cellName, runnerEvents, time } from '@sluice/run';
import { z } from 'zod';

const runId = z.string();
const message = z.string();

/** The position of an event in the output of one process. */
const seq = z.int().min(1).describe('1 for the first event of a process; grows by 1 with each event');
const scheduleEvent = { seq, at: time, schedule: z.string() };
const scheduledRun = { ...scheduleEvent, plannedAt: time, runId };

/** What commands that follow something print, by the value of `type`. */
export const EVENT_VALUES = {
  ...runnerEvents,
  scheduleWatched: z
    .strictObject({ ...scheduleEvent, nextAt: time.exactOptional().describe('absent if no time follows') })
    .describe('The process starts runs of this schedule from now on.'),
  scheduledRunStarted: z.strictObject(scheduledRun).describe('A run of a planned time has started.'),
  scheduledRunResumed: z.strictObject(scheduledRun).describe('A run that another process has left has been resumed.'),
  scheduledRunFinished: z
    .strictObject({ ...scheduledRun, status: z.enum(['succeeded', 'failed', 'canceled']) })
    .describe('The run of a planned time has ended.'),
  scheduledRunSuspended: z
    .strictObject({ ...scheduledRun, message })
    .describe('The process does not execute the run any more, and the run has not ended.'),
  plannedTimeSkipped: z
    .strictObject({ ...scheduleEvent, plannedAt: time, message })
    .describe('No run of this planned time will be started.'),
  plannedTimePostponed: z
    .strictObject({ ...scheduleEvent, plannedAt: time, message })
    .describe('The run could not be started now, and is tried again.'),
  plannedTimesMissed: z
    .strictObject({ ...scheduleEvent, firstAt: time, lastAt: time })
    .describe('Planned times that passed while no process watched the schedule, and that `catchup` does not include.'),
  schedulePaused: z
    .strictObject({ ...scheduleEvent, message })
    .describe('The schedule is paused; until that ends, no run is started.'),
  scheduleChanged: z
    .strictObject({ ...scheduleEvent, message })
    .describe('The schedule has other times than at its last start.'),
  scheduleBlocked: z
    .strictObject({ ...scheduleEvent, message })
    .describe('The schedule could not be watched now, and is tried again.'),
  logLine: z
    .strictObject({
      runId,
      step: z.string(),
      cell: cellName,
      attempt: z.int().min(1),
      text: z.string().describe('without its newline, otherwise unchanged'),
    })
    .describe('A line of the log of a container.'),
} as const;
