import { z } from 'zod';
import type { InMilliseconds } from './in-milliseconds.ts';
import { cellStatus, failureReason } from './words.ts';

/** The status of a cell or a step. */
export const status = {
  status: cellStatus,
  reused: z.literal(true).exactOptional().describe('outputs and results are those of an earlier run'),
  reason: failureReason.exactOptional(),
};

/** The status of a cell or a step. A step with cells has the worst status of its cells. */
export interface StatusReport extends InMilliseconds<z.infer<z.ZodObject<typeof status>>> {}
