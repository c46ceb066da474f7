import { z } from 'zod';
import { cellValues } from './cell.ts';
import type { InMilliseconds } from './in-milliseconds.ts';
import { cellName, count, failureReason } from './words.ts';

/** An attempt that failed, or that was canceled; 1 for a step that could not be evaluated. */
export const failure = z.strictObject({
  step: z.string(),
  cell: cellName,
  ...cellValues,
  attempt: z.int().min(1),
  status: z.enum(['failed', 'canceled']),
  reason: failureReason.exactOptional(),
  exitCode: z.int().exactOptional(),
  message: z.string(),
  containerId: z.string().exactOptional(),
  hint: z.string().exactOptional().describe('what the user can do'),
  logTail: z.array(z.string()).readonly().describe('the last lines of the log; empty if it could not be read'),
  logFile: z.string().exactOptional().describe('the stored log, an absolute path'),
});

/** An attempt that failed, or that was canceled; 1 for a step that could not be evaluated. */
export interface FailureReport extends InMilliseconds<z.infer<typeof failure>> {}

/** Cells of a step that failed with the same class, exit code and message; the other values are those of the first. */
export const failureGroup = failure.omit({ logFile: true }).extend({
  cellCount: z.int().min(1),
  cells: z
    .array(z.strictObject({ cell: cellName, cellIndex: count }))
    .readonly()
    .describe('the first 20'),
});

/** Cells of a step that failed with the same class, exit code and message. */
export interface FailureGroup extends InMilliseconds<z.infer<typeof failureGroup>> {}

/** A step of which cells were skipped because others had failed. */
export const skippedStep = z.strictObject({
  step: z.string(),
  cellCount: z.int().min(1),
  message: z.string().describe('why the first one was skipped'),
});

/** A step of which cells were skipped because others had failed. */
export interface SkippedStep extends InMilliseconds<z.infer<typeof skippedStep>> {}
