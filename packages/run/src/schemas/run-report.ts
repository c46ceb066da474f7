import { z } from 'zod';
import { attempt } from './attempt.ts';
import { cell } from './cell.ts';
import { failure } from './failure.ts';
import { image } from './image.ts';
import type { InMilliseconds } from './in-milliseconds.ts';
import { output } from './output.ts';
import { runOrder } from './run-order.ts';
import { staleOutput } from './stale-output.ts';
import { status } from './status.ts';
import { timeSpent } from './time-spent.ts';
import { warning } from './warning.ts';
import { cellName, count, json, milliseconds, runPhase, time } from './words.ts';

const values = z.record(z.string(), json).readonly();

const step = z.strictObject({
  step: z.string(),
  ...status,
  each: z.array(z.string()).readonly().exactOptional().describe('its axes; absent if it has none'),
  cells: z
    .array(z.strictObject(cell))
    .readonly()
    .describe('one for a plain step, and for a `foreach` that could not be evaluated'),
});

/** The status of a step and of its cells. */
export interface StepReport extends InMilliseconds<z.infer<typeof step>> {}

/** What a run and each list of runs say of a run. */
export const runOutline = {
  runId: z.string(),
  pipeline: z.string(),
  labels: z
    .record(z.string(), z.string())
    .readonly()
    .exactOptional()
    .describe('those of the pipeline, and those that the command added; absent if there are none'),
  status: runPhase,
  createdAt: time.describe('when it was recorded, before it waits for its concurrency group or for a process'),
  startedAt: time.exactOptional().describe('when its first step could start; absent before'),
  endedAt: time.exactOptional(),
};

/** A run, as `sluice show` prints it. */
export const runReport = z.strictObject({
  ...runOutline,
  message: z.string().exactOptional().describe('why it is suspended or canceled, or a problem outside its steps'),
  clusterId: z.string(),
  accountId: z.string(),
  timeSpent: timeSpent.exactOptional().describe('absent before its first step could start'),
  steps: z.array(step).readonly().describe('in the order of the plan'),
  failures: z.array(failure).readonly().describe('in the order in which they ended'),
  warnings: z.array(warning).readonly().exactOptional(),
  outputs: z.record(z.string(), output).readonly().describe('of the pipeline, by name; those whose step has succeeded'),
  results: values.exactOptional().describe('that the pipeline declares; those whose step has succeeded'),
  staleOutputs: z
    .record(z.string(), staleOutput)
    .readonly()
    .exactOptional()
    .describe('directories for `publish` with the output of an earlier run, which this run has not produced'),
  order: runOrder
    .readonly()
    .exactOptional()
    .describe('what starts the same run again; absent if no command has started it'),
});

/** A run according to its journal. Times are in milliseconds since the Unix epoch. */
export interface RunReport extends InMilliseconds<z.infer<typeof runReport>> {}

/** One cell of the chain that determines the duration of the run. */
export const criticalCell = z.strictObject({
  step: z.string(),
  cell: cellName,
  readyAt: time.describe('when it could have started'),
  endedAt: time,
  waitedMs: milliseconds.describe('the time in between without a running container'),
});

/** One cell of the chain that determines the duration of the run. */
export interface CriticalCell extends InMilliseconds<z.infer<typeof criticalCell>> {}

const usage = z.strictObject({
  clusterId: z.string(),
  instanceType: z.string(),
  containers: count,
  ranMs: milliseconds,
  instanceHours: z.number().min(0),
});

/** What the containers of one instance type have occupied. */
export interface Usage extends InMilliseconds<z.infer<typeof usage>> {}

/** A run with all its attempts, from which the page is rendered: the content of `report.json`. */
export const detailedReport = runReport.extend({
  madeAt: time.describe('durations of what has not ended count until this time'),
  description: z.string().exactOptional(),
  params: values,
  attempts: z.array(attempt).readonly(),
  criticalPath: z.array(criticalCell).readonly(),
  usage: z.array(usage).readonly(),
  images: z.array(image).readonly(),
  dependencies: z.array(z.array(count).readonly()).readonly().describe('for each step the indexes of its dependencies'),
  levels: z.array(count).readonly().describe('for each step its column in the graph: its distance from the start'),
});

/** A run with all its attempts. Times are in milliseconds since the Unix epoch. */
export interface DetailedReport extends InMilliseconds<z.infer<typeof detailedReport>> {}
