import { z } from 'zod';

const ms = z.number().positive();

/** The settings of the agents of an allocation, in the file `SETTINGS`. */
export const agentSettingsSchema = z.strictObject({
  /** Host paths that appear empty in containers. */
  maskedPaths: z.array(z.string()),
  timeLimitMs: ms,
  graceMs: ms,
  idleMs: ms,
});
/** With all times in milliseconds. */
export type AgentSettings = z.infer<typeof agentSettingsSchema>;
