import { z } from 'zod';
import { explanationValue } from './explanation-schema.ts';
import { imageSchema } from './image-schema.ts';
import { failureSchemas, portsSchema, runStatusSchema, statusSchemas } from './status-schemas.ts';
import { timeSchema } from './time-schema.ts';

const name = z.string();
const count = z.int().min(0);
const milliseconds = z.number().min(0);
const cell = z.string().describe('empty for a plain step');
const item = z.unknown().exactOptional().describe('of a cell of `foreach`');
const results = z.record(z.string(), z.unknown()).readonly();

const cellReport = z.strictObject({
  cell,
  item,
  ...statusSchemas,
  attempts: count.describe('the number of attempts so far, each with a container'),
  containerId: z.string().exactOptional().describe('of the last attempt, as the following values'),
  clusterId: z.string().exactOptional(),
  submittedAt: timeSchema.exactOptional(),
  runningAt: timeSchema.exactOptional(),
  endedAt: timeSchema.exactOptional(),
  message: z.string().exactOptional().describe('why it waits, was skipped or has failed'),
  ports: portsSchema,
  results,
  reusedFrom: z.string().exactOptional().describe('the ID of the run whose outputs it has'),
});

const outputReport = z.strictObject({
  step: z.string(),
  output: z.string(),
  places: z
    .array(
      z.strictObject({
        cell,
        clusterId: z.string(),
        accountId: z.string(),
        volumeId: z.string(),
        path: z.string().describe('inside the volume'),
      }),
    )
    .readonly(),
  path: z.string().exactOptional().describe('a directory or file in the output; absent: all of it'),
  publishedTo: z.string().exactOptional().describe('absolute local directory with the copy for `publish`'),
  notPublished: z.string().exactOptional().describe('why the copy for `publish` could not be made'),
});

const warning = z.strictObject({ at: timeSchema, message: z.string(), concerns: z.literal('service').exactOptional() });

const kept = z.strictObject({
  directory: z.string(),
  runId: z.string().describe('of the run that wrote its content'),
  deliveredAt: z.string().describe('RFC 3339'),
});

const run = {
  runId: z.string(),
  pipeline: z.string(),
  status: runStatusSchema,
  message: z.string().exactOptional().describe('why it is suspended or canceled, or a problem outside its steps'),
  startedAt: timeSchema,
  endedAt: timeSchema.exactOptional(),
  clusterId: z.string(),
  accountId: z.string(),
  steps: z
    .array(z.strictObject({ name, ...statusSchemas, cells: z.array(cellReport).readonly() }))
    .readonly()
    .describe('in the order of the plan'),
  failures: z.array(z.strictObject(failureSchemas)).readonly().describe('in the order in which they ended'),
  warnings: z.array(warning).readonly().exactOptional(),
  outputs: z.record(z.string(), outputReport).readonly().describe('of the pipeline; those whose step has succeeded'),
  results: results.exactOptional().describe('that the pipeline declares; those whose step has succeeded'),
  kept: z
    .record(z.string(), kept)
    .readonly()
    .exactOptional()
    .describe('directories for `publish` with the output of an earlier run, which this run has not produced'),
  rerun: z
    .array(z.string())
    .readonly()
    .exactOptional()
    .describe('the arguments of `sluice` that start the same run again'),
};

const attempt = z.strictObject({
  step: z.string(),
  cell,
  item,
  attempt: z.int().min(1),
  status: statusSchemas.status.extract(['submitting', 'pending', 'running', 'succeeded', 'failed', 'canceled']),
  reason: statusSchemas.reason,
  exitCode: z.int().exactOptional(),
  message: z.string().exactOptional(),
  cancelReason: z.string().exactOptional().describe('why Sluice has canceled it'),
  containerId: z.string().exactOptional(),
  clusterId: z.string().exactOptional(),
  instanceType: z.string().exactOptional(),
  readyAt: timeSchema.exactOptional().describe('when it could have started'),
  requestedAt: timeSchema.exactOptional(),
  submittedAt: timeSchema.exactOptional(),
  runningAt: timeSchema.exactOptional(),
  endedAt: timeSchema.exactOptional(),
  publishedAt: timeSchema.exactOptional(),
  postponed: count.describe('how often its submission was postponed'),
  logFile: z.string().exactOptional().describe("relative to the run's directory"),
});

/** The values that report a run, by the value of `type`. */
export const REPORT_VALUES = {
  runReport: z.strictObject(run).describe('A run, as `show` prints it.'),
  report: z
    .strictObject({
      ...run,
      madeAt: timeSchema.describe('durations of what has not ended count until this time'),
      description: z.string().exactOptional(),
      params: results,
      attempts: z.array(attempt).readonly(),
      criticalPath: z
        .array(
          z.strictObject({
            step: z.string(),
            cell,
            readyAt: timeSchema.describe('when it could have started'),
            endedAt: timeSchema,
            waitedMs: milliseconds.describe('the time in between without a running container'),
          }),
        )
        .readonly(),
      usage: z
        .array(
          z.strictObject({
            clusterId: z.string(),
            instanceType: z.string(),
            containers: count,
            ranMs: milliseconds,
            instanceHours: z.number().min(0),
          }),
        )
        .readonly(),
      images: z.array(imageSchema).readonly(),
      dependencies: z
        .array(z.array(count).readonly())
        .readonly()
        .describe('for each step the indexes of its dependencies'),
      levels: z.array(count).readonly().describe('for each step its distance from the start'),
    })
    .describe('A run with all its attempts: the content of `report.json`.'),
  reportFiles: z
    .strictObject({
      runId: z.string(),
      page: z.string(),
      attempts: z.string(),
      data: z.string(),
      junit: z.string().exactOptional().describe('with `--junit`'),
    })
    .describe('The paths of the files that `report` has written.'),
  explanation: explanationValue,
  notification: z
    .strictObject({
      text: z.string().describe('a sentence about the end of the run'),
      runId: z.string(),
      pipeline: z.string(),
      status: runStatusSchema.extract(['succeeded', 'failed', 'canceled']),
      message: z.string().exactOptional(),
      failures: z
        .array(
          z.strictObject({
            step: failureSchemas.step,
            cell,
            attempt: failureSchemas.attempt,
            status: failureSchemas.status,
            reason: failureSchemas.reason,
            message: z.string(),
          }),
        )
        .readonly()
        .describe('the last failures'),
    })
    .describe('What `notify` sends at the end of a run.'),
} as const;
