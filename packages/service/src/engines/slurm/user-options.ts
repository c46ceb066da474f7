import { parseDuration } from '@sluice/core';
import { parseOptions } from '../parse-options.ts';
import { type SlurmConfig, slurmConfigSchema } from './slurm-config.ts';

/** What a user may set for the user's own jobs, with all defaults. */
export type UserOptions = Omit<SlurmConfig, 'unixUsers'> & { readonly timeLimitMs?: number };

const schema = slurmConfigSchema.omit({ unixUsers: true });

/** Checks the options of a profile. Throws an error for the user that names all wrong ones. */
export function parseUserOptions(options: Readonly<Record<string, unknown>>): UserOptions {
  const checked = parseOptions(options, { schema, engine: 'slurm', where: "for a user's own jobs" });
  const { timeLimit } = checked;
  return { ...checked, ...(timeLimit !== undefined && { timeLimitMs: parseDuration(timeLimit) }) };
}
