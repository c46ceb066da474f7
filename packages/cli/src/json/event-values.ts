import { z } from 'zod';
import { REPORT_VALUES } from './report-values.ts';
import { failureSchemas, portsSchema, statusSchemas } from './status-schemas.ts';
import { timeSchema } from './time-schema.ts';

const runId = z.string();
const cell = z.string().describe('empty for a plain step');
const message = z.string();

/** The position of an event in the output of one process. */
const seq = z.int().min(1).describe('1 for the first event of a process; grows by 1 with each event');
const runEvent = { runId, seq, at: timeSchema };
const step = z.string();
const cells = z.array(z.string()).readonly();
const count = z.int().min(0);
const scheduleEvent = { seq, at: timeSchema, schedule: z.string() };
const scheduledRun = { ...scheduleEvent, plannedAt: timeSchema, runId };

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
      cell,
      ...statusSchemas,
      reusedFrom: z.string().exactOptional().describe('the ID of the run whose outputs it has'),
      attempt: count.describe('0 before the first attempt'),
      containerId: z.string().exactOptional(),
      message: message.exactOptional().describe('why it waits, was skipped or has failed'),
      ports: portsSchema,
    })
    .describe('The status of a cell has changed. On resume, printed once for each cell that is not `waiting`.'),
  containerState: z
    .strictObject({ ...runEvent, step, cell, phase: z.string().describe('as the service reports it'), message })
    .describe(
      'The message of the service about a container that is not running yet, or the address of a port of one that runs.',
    ),
  attemptFailed: z
    .strictObject({ ...runEvent, ...failureSchemas })
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
    .strictObject({ ...runEvent, message, concerns: z.literal('service').exactOptional() })
    .describe('A problem that does not stop the run.'),
  runFinished: z
    .strictObject({ ...runEvent, report: REPORT_VALUES.runReport.describe('as `show` prints it') })
    .describe('The run has ended.'),
  scheduleWatched: z
    .strictObject({ ...scheduleEvent, nextAt: timeSchema.exactOptional().describe('absent if no time follows') })
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
    .strictObject({ ...scheduleEvent, plannedAt: timeSchema, message })
    .describe('No run of this planned time will be started.'),
  plannedTimePostponed: z
    .strictObject({ ...scheduleEvent, plannedAt: timeSchema, message })
    .describe('The run could not be started now, and is tried again.'),
  plannedTimesMissed: z
    .strictObject({ ...scheduleEvent, firstAt: timeSchema, lastAt: timeSchema })
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
      cell,
      attempt: z.int().min(1),
      text: z.string().describe('without its newline, otherwise unchanged'),
    })
    .describe('A line of the log of a container.'),
} as const;
