import { z } from 'zod';

/** A directory named by `publish` that a run has left unchanged because it did not produce the output. */
export const staleOutput = z.strictObject({
  directory: z.string(),
  runId: z.string().describe('of the run that wrote its content'),
  copiedAt: z.string().describe('RFC 3339'),
});

/** A directory named by `publish` that a run has left unchanged because it did not produce the output. */
export type StaleOutput = z.infer<typeof staleOutput>;
