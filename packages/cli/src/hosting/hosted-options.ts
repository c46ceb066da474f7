import { resolve } from 'node:path';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { isProfileFile } from '../home/find-profile.ts';

/** The options of a command that decide which service a run uses, as they are stored with a hosted run. */
export type HostedOptions = Readonly<Record<string, string | number>>;

const KEYS = ['profile', 'service', 'account', 'cluster', 'cpu'] as const;
const VARIABLES = {
  profile: 'SLUICE_PROFILE',
  service: 'SLUICE_SERVICE',
  account: 'SLUICE_ACCOUNT',
  cluster: 'SLUICE_CLUSTER',
} as const;

/** The options and variables that select the service. The path of a profile becomes absolute. */
export function selectHostedOptions(
  options: GlobalOptions,
  { env, cwd }: Pick<CommandContext, 'env' | 'cwd'>,
): HostedOptions {
  const chosen = KEYS.flatMap((key) => {
    const value = options[key] ?? (key === 'cpu' ? undefined : env[VARIABLES[key]] || undefined);
    if (value === undefined) return [];
    const isPath = key === 'profile' && isProfileFile(String(value));
    return [[key, isPath ? resolve(cwd, String(value)) : value] as const];
  });
  return Object.fromEntries(chosen);
}

/**
 * The variables that a host needs for a run: secrets, credentials, and where its traces are sent. They are passed in memory
 * and never stored.
 */
export function selectHostedEnv(env: NodeJS.ProcessEnv): Record<string, string> {
  const needed = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      /^(SLUICE_(SECRET_.*|TOKEN|EMAIL|PASSWORD|OTLP)|OTEL_EXPORTER_OTLP_(ENDPOINT|HEADERS))$/.test(entry[0]) &&
      entry[1] !== undefined,
  );
  return Object.fromEntries(needed);
}
