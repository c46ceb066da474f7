import { z } from 'zod';
import type { InMilliseconds } from './in-milliseconds.ts';
import { cellName, count, time } from './words.ts';

const change = z.strictObject({
  kind: z
    .enum(['param', 'step', 'volume', 'result'])
    .describe('`step`: a key of a step that it depends on or releases; `result`: of a step before it'),
  name: z.string().describe('for example `fit.command`, or `fit.accuracy` of a result'),
  before: z.string().exactOptional().describe('absent if there was none; of a volume, only that its content differs'),
  after: z.string().exactOptional().describe('absent if there is none any more'),
});

/** A difference between a run and an earlier one in what an approval depends on. Values are JSON, shortened. */
export interface ApprovalChange extends z.infer<typeof change> {}

/** An approval that waits for an answer. */
export const openApproval = z.strictObject({
  step: z.string(),
  cell: cellName,
  cellIndex: count,
  message: z.string().describe('what is asked'),
  releases: z.array(z.string()).readonly().describe('the steps that depend on it, directly or through others'),
  previous: z
    .strictObject({
      runId: z.string(),
      answeredAt: time,
      changes: z.array(change).readonly().describe('the first 50'),
      changeCount: count,
    })
    .exactOptional()
    .describe('the newest earlier run in which the step was approved, of the ten before; absent if it was in none'),
});

/** An approval that waits for an answer. Times are in milliseconds since the Unix epoch. */
export interface OpenApproval extends InMilliseconds<z.infer<typeof openApproval>> {}
