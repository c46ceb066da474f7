import { FAILURE_CLASSES, type Json } from '@sluice/core';
import { z } from 'zod';
import { CELL_STATUSES, RUN_PHASES } from './statuses.ts';

/** Any JSON value. */
export const json: z.ZodType<Json, Json> = z.json() as z.ZodType<Json, Json>;

/** A time in JSON. In memory, it is a number: see `InMilliseconds`. */
export const time = z.iso.datetime({ precision: 3 }).describe('RFC 3339 in UTC, with milliseconds').brand<'time'>();

/** The status of a run. */
export const runPhase = z
  .enum(RUN_PHASES)
  .describe(
    '`waiting`: a process will execute it when its concurrency group has capacity; `suspended`: no process executes it, and it can be resumed',
  );

/** The status of a step or a cell. A step with cells has the worst status of its cells. */
export const cellStatus = z.enum(CELL_STATUSES);

/** Why an attempt, a cell or a step has failed. */
export const failureReason = z
  .enum(FAILURE_CLASSES)
  .describe('why it has failed; present exactly if the status is `failed`');

/** The name of a cell. */
export const cellName = z.string().describe('empty for a plain step');

/** A number of things. */
export const count = z.int().min(0);

/** A duration. */
export const milliseconds = z.number().min(0);
