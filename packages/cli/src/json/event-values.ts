import { cell, cellName, count, failure, status, time, warning } from '@sluice/run';
import { z } from 'zod';
import { REPORT_VALUES } from './report-values.ts';

const runId = z.string();
const message = z.string();

/** The position of an event in the output of one process. */
const seq = z.int().min(1).describe('1 for the first event of a process; grows by 1 with each event');
const runEvent = { runId, seq, at: time };
const step = z.string();
const cells = z.array(z.string()).readonly();
const scheduleEvent = { seq, at: time, schedule: z.string() };
const scheduledRun = { ...scheduleEvent, plannedAt: time, runId };

/** What commands that follow something print, by the value of `type`. */
export const EVENT_VALUES = {
  runStarted: z
    .strictObject({
      ...runEvent,
      pipeline: z.string(),
      resumed: z.boolean(),
      steps: z
        .array(z.strictObject({ name: step, cells: cells.exactOptional() }))
        .readonly()
        .describe('in the order of the plan; `cells` is absent if the list of a `foreach` step is not known yet'),
    })
    .describe('The process executes the run from now on.'),
  stepExpanded: z.strictObject({ ...runEvent, step, cells }).describe('The cells of a `foreach` step are known.'),
  cellChanged: z
    .strictObject({
      ...runEvent,
      step,
      cell: cellName,
      ...status,
      reusedFrom: cell.reusedFrom,
      attempt: count.describe('0 before the first attempt'),
      containerId: z.string().exactOptional(),
      message: cell.message,
      ports: cell.ports,
    })
    .describe('The status of a cell has changed. On resume, printed once for each cell that is not `waiting`.'),
  containerState: z
    .strictObject({
      ...runEvent,
      step,
      cell: cellName,
      phase: z.string().describe('as the service reports it'),
      message,
    })
    .describe(
      'The message of the service about a container that is not running yet, or the address of a port of one that runs.',
    ),
  attemptFailed: z
    .strictObject({ ...runEvent, ...failure.shape })
    .describe('An attempt has failed or was canceled, and its log has been read.'),
  transfer: z
    .strictObject({
      ...runEvent,
      direction: z.enum(['upload', 'download', 'across']).describe('`across`: from one cluster to another'),
      name: z.string().describe('of the volume or of the output'),
      files: count,
      totalFiles: count,
      bytes: count,
      totalBytes: count,
      done: z.boolean(),
    })
    .describe('The progress of a copy.'),
  approvalAsked: z.strictObject({ ...runEvent, step, message }).describe('A step waits for approval.'),
  warning: z
    .strictObject({ ...runEvent, message, concerns: warning.shape.concerns })
    .describe('A problem that does not stop the run.'),
  runFinished: z
    .strictObject({ ...runEvent, report: REPORT_VALUES.runReport.describe('as `show` prints it') })
    .describe('The run has ended.'),
  scheduleWatched: z
    .strictObject({ ...scheduleEvent, nextAt: time.exactOptional().describe('absent if no time follows') })
    .describe('The process starts runs of this schedule from now on.'),
  scheduledRunStarted: z.strictObject(scheduledRun).describe('A run of a planned time has started.'),
  scheduledRunResumed: z.strictObject(scheduledRun).describe('A run that another process has left has been resumed.'),
  scheduledRunFinished: z
    .strictObject({ ...scheduledRun, status: z.enum(['succeeded', 'failed', 'canceled']) })
    .describe('The run of a planned time has ended.'),
  scheduledRunDetached: z
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
