import { z } from 'zod';
import type { InMilliseconds } from './in-milliseconds.ts';
import { runOutline } from './run-report.ts';
import { cellStatus } from './words.ts';

/** The number of cells by status; a status without cells is absent. */
export const counts = z.partialRecord(cellStatus, z.int().min(1));

const executor = z
  .enum(['terminal', 'host', 'ui', 'server', 'none'])
  .describe(
    'the process that executes the run, or waits for its group: `terminal`, a command or a program; `host`, the background process of the home; `ui`, `sluice ui`; `server`, a server; `none`',
  );

/** The kind of process that executes a run. */
export type Executor = z.infer<typeof executor>;

/** A run in a list of runs. */
export const runEntry = z.strictObject({
  ...runOutline,
  executor,
  counts: counts
    .readonly()
    .exactOptional()
    .describe('absent for a run that has ended elsewhere, or whose files could not be read'),
  waitsForApproval: z.literal(true).exactOptional(),
  problem: z
    .string()
    .exactOptional()
    .describe('why the files of the run could not be read; the other values are then defaults'),
});

/** A run in a list of runs, as the files of its home describe it. */
export interface RunSummary extends Omit<InMilliseconds<z.infer<typeof runEntry>>, 'executor' | 'waitsForApproval'> {}
