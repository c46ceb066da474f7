import { resolve } from 'node:path';
import type { RunSettings } from '@sluice/run';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { findProfile, isProfileFile } from '../home/find-profile.ts';
import { followUse } from '../home/follow-use.ts';
import { type Profile, readProfile } from '../home/profile.ts';

const KEYS = ['profile', 'service', 'account', 'cluster', 'engine', 'cpu'] as const;

/** The options of a command that decide which service a run uses, as they are stored with a hosted run. */
export type HostedOptions = Readonly<Pick<RunSettings, (typeof KEYS)[number]>>;

const VARIABLES = {
  profile: 'SLUICE_PROFILE',
  service: 'SLUICE_SERVICE',
  account: 'SLUICE_ACCOUNT',
  cluster: 'SLUICE_CLUSTER',
} as const;

/** Those of an order. */
export function pickHostedOptions(order: RunSettings): HostedOptions {
  const given = KEYS.flatMap((key) => (order[key] === undefined ? [] : [[key, order[key]]]));
  return Object.fromEntries(given);
}

/**
 * The options that select the service, and the variables that neither an option nor the profile of `--profile` replaces.
 * The path of a profile becomes absolute.
 */
export function selectHostedOptions(
  options: GlobalOptions,
  context: Pick<CommandContext, 'env' | 'cwd'>,
): HostedOptions {
  const { env, cwd } = context;
  const replaced = readNamedProfile(options, context);
  // As in `chooseService`.
  const hasEngine = options.engine !== undefined || replaced.engine !== undefined;
  const chosen = KEYS.flatMap((key) => {
    const variable = key === 'cpu' || key === 'engine' ? undefined : env[VARIABLES[key]] || undefined;
    const isReplaced = options.isRecorded === true || Object.hasOwn(replaced, key) || (key === 'service' && hasEngine);
    const value = options[key] ?? (isReplaced ? undefined : variable);
    if (value === undefined) return [];
    const isPath = key === 'profile' && isProfileFile(String(value));
    return [[key, isPath ? resolve(cwd, String(value)) : value] as const];
  });
  return Object.fromEntries(chosen);
}

/** Empty without `--profile`, and for a profile that no command accepts. */
function readNamedProfile(options: GlobalOptions, context: Pick<CommandContext, 'env' | 'cwd'>): Profile {
  if (options.profile === undefined) return {};
  const found = findProfile(options, context);
  if (!found.ok || found.value === undefined) return {};
  const { path } = found.value;
  const read = readProfile(path);
  const used = read.ok ? followUse({ profile: read.value, path }, context.env) : read;
  return used.ok ? used.value.profile : {};
}

/** The environment without the variables that select a service, for work whose options are recorded. */
export function omitServiceVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names: readonly string[] = Object.values(VARIABLES);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)));
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
