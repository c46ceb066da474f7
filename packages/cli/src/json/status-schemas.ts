import { FAILURE_CLASSES } from '@sluice/core';
import { CELL_STATUSES, RUN_PHASES } from '@sluice/run';
import { z } from 'zod';

/** The status of a run in a printed value. */
export const runStatusSchema = z
  .enum(RUN_PHASES)
  .describe(
    '`waiting`: a process will execute it when its concurrency group has a place; `suspended`: no process executes it, and it can be resumed',
  );

/** Why an attempt has failed. */
const failureReasonSchema = z
  .enum(FAILURE_CLASSES)
  .describe('why it has failed; present exactly if the status is `failed`');

/** The status of a step or a cell in a printed value. */
export const statusSchemas = {
  status: z.enum(CELL_STATUSES),
  reused: z.literal(true).exactOptional().describe('outputs and results are those of an earlier run'),
  reason: failureReasonSchema.exactOptional(),
};

/** The ports of a cell in a printed value. */
export const portsSchema = z
  .record(z.string(), z.strictObject({ url: z.string() }))
  .readonly()
  .exactOptional()
  .describe('the exposed ports of a cell that runs, by name');

/** A failed or canceled attempt in a printed value. */
export const failureSchemas = {
  step: z.string(),
  cell: z.string().describe('empty for a plain step'),
  item: z.unknown().exactOptional().describe('of a cell of `foreach`'),
  attempt: z.int().min(1),
  status: z.enum(['failed', 'canceled']),
  reason: failureReasonSchema.exactOptional(),
  exitCode: z.int().exactOptional(),
  message: z.string(),
  containerId: z.string().exactOptional(),
  hint: z.string().exactOptional().describe('what the user can do'),
  logTail: z.array(z.string()).readonly().describe('the last lines of the log; empty if it could not be read'),
  logFile: z.string().exactOptional().describe('the stored log, an absolute path'),
};
