import { z } from 'zod';
import type { InMilliseconds } from './in-milliseconds.ts';
import { TIME_PARTS } from './time-parts.ts';
import { milliseconds } from './words.ts';

/** Where the time of a run went. */
export const timeSpent = z.strictObject({
  totalMs: milliseconds.describe('from `startedAt` to the end; of a run that has not ended, until now'),
  computingMs: milliseconds.describe(TIME_PARTS.computing.meaning),
  queuedMs: milliseconds.describe(TIME_PARTS.queued.meaning),
  capacityMs: milliseconds.describe(TIME_PARTS.capacity.meaning),
  approvalMs: milliseconds.describe(TIME_PARTS.approval.meaning),
  retriesMs: milliseconds.describe(TIME_PARTS.retries.meaning),
  transferMs: milliseconds.describe(TIME_PARTS.transfer.meaning),
  noExecutorMs: milliseconds.describe(TIME_PARTS.noExecutor.meaning),
  otherMs: milliseconds.describe(TIME_PARTS.other.meaning),
});

/** Where the time of a run went: the parts add up to the total. */
export interface TimeSpent extends InMilliseconds<z.infer<typeof timeSpent>> {}
