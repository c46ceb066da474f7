import { cellStatus, runPhase } from '@sluice/run';
import { z } from 'zod';

/** The kinds of processes that execute runs. */
export const EXECUTORS = ['terminal', 'host', 'ui', 'server', 'none'] as const;

/** One of `EXECUTORS`. */
export type Executor = (typeof EXECUTORS)[number];

/** What the kinds mean, for descriptions of values. */
export const EXECUTOR_WORDS =
  'the process that executes the run, or waits for its group: `terminal`, a command or a program; `host`, the background process of the home; `ui`, `sluice ui`; `server`, a server; `none`';

/** The number of cells by status; a status without cells is absent. */
export const counts = z.partialRecord(cellStatus, z.int().min(1));

/** The status of a run as a whole. */
export const runHead = z.strictObject({ status: runPhase, counts });

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
} as const satisfies Readonly<Record<string, z.input<typeof cellStatus>>>;

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
