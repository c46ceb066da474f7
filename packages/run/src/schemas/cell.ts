import { z } from 'zod';
import type { InMilliseconds } from './in-milliseconds.ts';
import { status } from './status.ts';
import { cellName, count, json, time } from './words.ts';

/** The values by which the cells of a step differ. */
export const cellValues = {
  axes: z
    .record(z.string(), z.string())
    .readonly()
    .exactOptional()
    .describe('the keys of its items, by axis; absent if the step has no `each`'),
  matrix: z
    .record(z.string(), json)
    .readonly()
    .exactOptional()
    .describe('the values of its matrix; absent if the step has none'),
  item: json.exactOptional().describe('of a cell of `foreach`'),
};

/** The values by which the cells of a step differ. */
export interface CellValues extends InMilliseconds<z.infer<z.ZodObject<typeof cellValues>>> {}

/** What is said of a cell wherever one is described; a new field of a cell belongs here. */
export const cell = {
  cell: cellName,
  ...cellValues,
  ...status,
  attempt: count.describe('the number of its last attempt with a container; 0 before the first'),
  beganAt: time.exactOptional().describe('when its first attempt began to run'),
  containerId: z.string().exactOptional().describe('of the last attempt, as the following values'),
  clusterId: z.string().exactOptional(),
  instanceType: z.string().exactOptional(),
  submittedAt: time.exactOptional(),
  runningAt: time.exactOptional(),
  endedAt: time.exactOptional(),
  message: z.string().exactOptional().describe('why it waits, was skipped or has failed'),
  ports: z
    .record(z.string(), z.strictObject({ url: z.string() }))
    .readonly()
    .exactOptional()
    .describe('the exposed ports of a cell that runs, by name'),
  results: z.record(z.string(), json).readonly(),
  reusedFrom: z.string().exactOptional().describe('the ID of the run whose outputs it has'),
};

/** A cell with the container of its last attempt. */
export interface CellView extends InMilliseconds<z.infer<z.ZodObject<typeof cell>>> {}
