import { z } from 'zod';
import { cellValues } from './cell.ts';
import type { InMilliseconds } from './in-milliseconds.ts';
import { cellName, failureReason } from './words.ts';

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
