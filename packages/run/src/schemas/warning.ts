import { z } from 'zod';
import type { InMilliseconds } from './in-milliseconds.ts';
import { time } from './words.ts';

/** A problem that the user should know and that has not stopped the run. */
export const warning = z.strictObject({
  at: time,
  message: z.string(),
  concerns: z.literal('service').exactOptional().describe('how the service answers requests about containers'),
});

/** A problem that the user should know and that has not stopped the run. */
export interface RunWarning extends InMilliseconds<z.infer<typeof warning>> {}

/** The subject of a warning that explains the state of steps. */
export type WarningTopic = NonNullable<RunWarning['concerns']>;
