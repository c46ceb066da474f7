import { parseDuration } from '@sluice/core';
import { type SlurmConfig, slurmConfigSchema } from './slurm-config.ts';

/** What a user may set for the user's own jobs, with all defaults. */
export type UserOptions = Omit<SlurmConfig, 'unixUsers'> & { readonly timeLimitMs?: number };

/** Checks the options of a profile. Throws an error for the user that names all wrong ones. */
export function parseUserOptions(options: Readonly<Record<string, unknown>>): UserOptions {
  const checked = slurmConfigSchema.omit({ unixUsers: true }).safeParse(options);
  if (checked.success) {
    const { timeLimit } = checked.data;
    return { ...checked.data, ...(timeLimit !== undefined && { timeLimitMs: parseDuration(timeLimit) }) };
  }
  const faults = checked.error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => `there is no option '${key}' for a user's own jobs`)
      : [`'${issue.path.join('.')}' ${issue.message}`],
  );
  throw new Error(`could not use the options of the engine slurm: ${faults.join('; ')}`);
}
