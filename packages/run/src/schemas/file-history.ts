import { z } from 'zod';
import type { InMilliseconds } from './in-milliseconds.ts';
import { cellName, count, time } from './words.ts';

const maker = z.strictObject({
  runId: z.string().describe('the run whose container wrote the files'),
  pipeline: z.string().exactOptional().describe('absent if the run is no longer in the home'),
  step: z.string(),
  cell: cellName,
  attempt: z.int().min(1).exactOptional().describe('the attempt whose output was published'),
  containerId: z.string().exactOptional(),
  publishedAt: time.exactOptional(),
  clusterId: z.string(),
  volumeId: z.string(),
  path: z.string().describe('in the volume'),
  problem: z.string().exactOptional().describe('what is not known or no longer there, and why'),
});

/** Who wrote the files of an output. */
export interface FileMaker extends InMilliseconds<z.infer<typeof maker>> {}

const use = z.strictObject({
  kind: z
    .enum(['reused', 'mounted', 'published'])
    .describe('a cell counts as done with it; a container mounted it; it was copied to a directory'),
  runId: z.string(),
  pipeline: z.string(),
  step: z.string(),
  cell: cellName,
  name: z.string().exactOptional().describe('of the input that mounted it, or of the output that was copied'),
  directory: z.string().exactOptional().describe('with `published`'),
  at: time.exactOptional(),
});

/** One use of the files of an output. */
export interface FileUse extends InMilliseconds<z.infer<typeof use>> {}

/** Where the bytes of a file come from, and who has used them. */
export const fileHistory = z.strictObject({
  runId: z.string().describe('the run that was asked for'),
  step: z.string().describe('whose output the file is part of'),
  output: z.string(),
  path: z.string().exactOptional().describe('in the output; absent: all of it'),
  sha256: z.string().exactOptional().describe('of the local file that was asked for'),
  makers: z.array(maker).readonly().describe('one for each cell; the first 20'),
  makerCount: count,
  uses: z.array(use).readonly().describe('of all runs of the home, newest run first; the first 100'),
  useCount: count,
  unknown: z.array(z.string()).readonly().describe('what the records cannot say'),
});

/** Where the bytes of a file come from. Times are in milliseconds since the Unix epoch. */
export interface FileHistory extends InMilliseconds<z.infer<typeof fileHistory>> {}
