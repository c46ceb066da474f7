import { z } from 'zod';
import type { InMilliseconds } from './in-milliseconds.ts';
import { cellName } from './words.ts';

/** A directory of a volume. */
export const location = {
  clusterId: z.string(),
  accountId: z.string(),
  volumeId: z.string(),
  path: z.string().describe('inside the volume'),
};

/** A directory of a volume. */
export interface DataLocation extends InMilliseconds<z.infer<z.ZodObject<typeof location>>> {}

/** An output of the pipeline whose step has succeeded. */
export const output = z.strictObject({
  step: z.string(),
  output: z.string(),
  locations: z
    .array(z.strictObject({ cell: cellName, ...location }))
    .readonly()
    .describe('one for each cell, in their order; for a reused cell, it belongs to an earlier run'),
  path: z.string().exactOptional().describe('a directory or file in the output; absent: all of it'),
  publishedTo: z.string().exactOptional().describe('absolute local directory with the copy for `publish`'),
  notPublished: z.string().exactOptional().describe('why the copy for `publish` could not be made'),
});

/** An output of the pipeline whose step has succeeded. */
export interface OutputReport extends InMilliseconds<z.infer<typeof output>> {}
/** The directory with the output of one cell. */
export type OutputLocation = OutputReport['locations'][number];
