import { z } from 'zod';
import { ALLOCATION_RUNTIMES } from './suits-allocation.ts';

const ms = z.number().positive();

/** The settings of the agents of an allocation, in the file `SETTINGS`. */
export const agentSettingsSchema = z.strictObject({
  /** Host paths that appear empty in containers without an image. */
  maskedPaths: z.array(z.string()),
  /** Runs the images of its containers; `none`: they have none. */
  runtime: z.enum(ALLOCATION_RUNTIMES).default('none'),
  /** Whether there are containers without an image, too. */
  withoutImage: z.enum(['reject', 'node']).optional(),
  /** How many nodes the allocation has. */
  nodes: z.int().min(1).default(1),
  timeLimitMs: ms,
  graceMs: ms,
  idleMs: ms,
});
/** With all times in milliseconds. */
export type AgentSettings = z.infer<typeof agentSettingsSchema>;
