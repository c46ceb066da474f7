import { z } from 'zod';
import { cellValues } from './cell.ts';
import { failure } from './failure.ts';
import type { InMilliseconds } from './in-milliseconds.ts';
import { status } from './status.ts';
import { cellName, cellStatus, count, time } from './words.ts';

/** Status, place and times of an attempt. */
const outline = {
  attempt: z.int().min(1),
  status: cellStatus
    .extract(['submitting', 'pending', 'running', 'succeeded', 'failed', 'canceled'])
    .describe('`submitting` until the service has accepted it'),
  reason: status.reason,
  containerId: z.string().exactOptional(),
  clusterId: z.string().exactOptional(),
  instanceType: z.string().exactOptional(),
  requestedAt: time.exactOptional().describe('when the first request for the container was about to be sent'),
  submittedAt: time.exactOptional(),
  runningAt: time.exactOptional(),
  endedAt: time.exactOptional(),
  publishedAt: time.exactOptional(),
};

/** Status, place and times of an attempt. */
export interface AttemptOutline extends InMilliseconds<z.infer<z.ZodObject<typeof outline>>> {}

/** One attempt, from the time when it could have started. */
export const attempt = z.strictObject({
  step: z.string(),
  cell: cellName,
  ...cellValues,
  ...outline,
  exitCode: z.int().exactOptional(),
  message: z.string().exactOptional(),
  cancelReason: z.string().exactOptional().describe('why Sluice has canceled it'),
  readyAt: time
    .exactOptional()
    .describe('when it could have started: only capacity was missing; for a retry, the end of the previous attempt'),
  postponed: count.describe('how often its submission was postponed'),
  logFile: z.string().exactOptional().describe("relative to the run's directory"),
});

/** One attempt, from the time when it could have started. */
export interface AttemptReport extends InMilliseconds<z.infer<typeof attempt>> {}

/** One attempt of a cell that is explained. */
export const explainedAttempt = {
  ...outline,
  postponed: z
    .strictObject({ times: z.int().min(1), cause: z.string() })
    .exactOptional()
    .describe('how often its submission was postponed, and the last reason'),
  failure: failure.exactOptional(),
  retry: z.string().exactOptional().describe('whether another attempt followed, and by which rule'),
};

/** One attempt of a cell that is explained. */
export interface AttemptExplanation extends InMilliseconds<z.infer<z.ZodObject<typeof explainedAttempt>>> {}
