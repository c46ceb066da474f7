import type { GlobalOptions } from '../context/command-context.ts';
import type { Profile } from '../home/profile.ts';

/** The variable of each setting. */
export const VARIABLES = { service: 'SLUICE_SERVICE', account: 'SLUICE_ACCOUNT', cluster: 'SLUICE_CLUSTER' } as const;

/**
 * Chooses one setting: the flag, else the profile of `--profile`, else the variable, else the profile from elsewhere.
 * An empty variable counts as not set.
 */
export function chooseSetting(
  key: keyof typeof VARIABLES,
  { flags, env, profile }: { flags: GlobalOptions; env: NodeJS.ProcessEnv; profile: Profile },
): string | undefined {
  const flagged = flags[key] ?? (flags.profile === undefined ? undefined : profile[key]);
  const variable = flags.isRecorded === true ? undefined : env[VARIABLES[key]] || undefined;
  return flagged ?? variable ?? profile[key];
}
