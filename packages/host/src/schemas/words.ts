import { FAILURE_CLASSES, type Json } from '@sluice/core';
import { CELL_STATUSES, RUN_PHASES } from '@sluice/run';
import { z } from 'zod';

/** Any JSON value. */
export const json: z.ZodType<Json, Json> = z.json() as z.ZodType<Json, Json>;

/** A time in replies. */
export const time = z.iso.datetime({ precision: 3 }).describe('RFC 3339 in UTC, with milliseconds');

/** The status of a run. */
export const runStatus = z.enum(RUN_PHASES);

/** The kinds of processes that execute runs. */
export const EXECUTORS = ['terminal', 'host', 'ui', 'server', 'none'] as const;

/** One of `EXECUTORS`. */
export type Executor = (typeof EXECUTORS)[number];

/** What the kinds mean, for descriptions of values. */
export const EXECUTOR_WORDS =
  'the process that executes the run, or waits for its group: `terminal`, a command or a program; `host`, the background process of the home; `ui`, `sluice ui`; `server`, a server; `none`';

/** The status of a step or a cell. */
export const cellStatus = z.enum(CELL_STATUSES);

/** Why an attempt, a cell or a step has failed. */
export const failureReason = z.enum(FAILURE_CLASSES);

/** The number of cells by status; a status without cells is absent. */
export const counts = z.partialRecord(cellStatus, z.int().min(1));

/** The status of a run as a whole. */
export const runHead = z.strictObject({ status: runStatus, counts });

/** The letters of `states`: one for each status, and `e` for a cell that succeeded because an earlier result is reused. */
export const STATE_LETTERS = {
  w: 'waiting',
  q: 'ready',
  b: 'submitting',
  p: 'pending',
  r: 'running',
  u: 'publishing',
  a: 'awaitingApproval',
  s: 'succeeded',
  e: 'succeeded',
  f: 'failed',
  k: 'skipped',
  c: 'canceled',
} as const satisfies Readonly<Record<string, z.infer<typeof cellStatus>>>;

/** The status of every cell, as in `states`. */
export const states = z.array(z.string().regex(new RegExp(`^[${Object.keys(STATE_LETTERS).join('')}]*$`))).describe(
  `for each step one letter per cell; empty while the cells of a \`foreach\` are unknown: ${Object.entries(
    STATE_LETTERS,
  )
    .map(([letter, status]) => `${letter} ${letter === 'e' ? 'succeeded, reused' : status}`)
    .join(', ')}`,
);

/** The number of the journal's record after which a reply describes the run. */
export const position = z.int().min(0).describe('sequence number of a record in the journal of the run');
