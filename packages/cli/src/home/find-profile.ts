import { existsSync, readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { describeUnknown, fail, ok, type Result } from '@sluice/core';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { findHome, isHomeNamed } from './home.ts';
import { findUserDirectories } from './user-directories.ts';

/** The user's profile for homes that have none. */
export const DEFAULT_PROFILE = 'default';

/** The profile that applies to a command. Profiles are not merged. */
export interface ProfilePlace {
  readonly path: string;
  /** True if its home was found, not named: it may come from a repository. */
  readonly isFound: boolean;
  readonly selectedBy: ProfileSource;
}

/** What selects a profile: `--profile`, `SLUICE_PROFILE`, the home that contains it, or its name `default`. */
export type ProfileSource = 'flag' | 'variable' | 'home' | 'default';

/**
 * The profile of `--profile`, else of `SLUICE_PROFILE`, else `profile.yaml` of the home, else the user's profile
 * `default`. Undefined if there is none.
 */
export function findProfile(
  options: Pick<GlobalOptions, 'profile' | 'home' | 'isRecorded'>,
  context: Pick<CommandContext, 'cwd' | 'env'>,
): Result<ProfilePlace | undefined, CommandError> {
  const variable = options.isRecorded === true ? undefined : context.env.SLUICE_PROFILE || undefined;
  const selectedBy = options.profile === undefined ? 'variable' : 'flag';
  const named = options.profile ?? variable;
  if (named !== undefined) {
    const found = findNamed(named, context);
    return found.ok ? ok({ path: found.value, isFound: false, selectedBy }) : found;
  }
  const path = homeProfile(findHome(context, options));
  if (existsSync(path)) return ok({ path, isFound: !isHomeNamed(context, options), selectedBy: 'home' });
  return ok(findOwnProfile(context.env));
}

/** The user's profile `default`, independent of the home. */
export function findOwnProfile(env: NodeJS.ProcessEnv): ProfilePlace | undefined {
  const path = profileFile(DEFAULT_PROFILE, env);
  return path !== undefined && existsSync(path) ? { path, isFound: false, selectedBy: 'default' } : undefined;
}

/** The profile of a home. */
export function homeProfile(home: string): string {
  return join(home, 'profile.yaml');
}

/** The file of a profile name; undefined if the user has no directory for profiles. */
export function profileFile(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const profiles = findUserDirectories(env)?.profiles;
  return profiles === undefined ? undefined : join(profiles, `${name}.yaml`);
}

function findNamed(word: string, { cwd, env }: Pick<CommandContext, 'cwd' | 'env'>): Result<string, CommandError> {
  if (isProfileFile(word)) return ok(resolve(cwd, word));
  const path = profileFile(word, env);
  if (path === undefined) {
    return reject(
      `could not find profile ${word}: the user has no configuration directory; set HOME or XDG_CONFIG_HOME`,
    );
  }
  if (existsSync(path)) return ok(path);
  return reject(
    `could not find profile ${describeUnknown(word, listProfiles(env))}; to create it, log in to its service with --profile ${word}`,
  );
}

/** Whether `--profile` and `SLUICE_PROFILE` name a file: a word without `/` and without `.yaml` at its end is a name. */
export function isProfileFile(word: string): boolean {
  return word.includes('/') || word.endsWith('.yaml');
}

/** The names of the user's profiles. */
export function listProfiles(env: NodeJS.ProcessEnv): readonly string[] {
  const profiles = findUserDirectories(env)?.profiles;
  if (profiles === undefined) return [];
  try {
    const files = readdirSync(profiles).filter((name) => name.endsWith('.yaml'));
    return files.map((name) => basename(name, '.yaml')).sort();
  } catch {
    return [];
  }
}

function reject(message: string): { ok: false; error: CommandError } {
  return fail({ exitCode: EXIT_CODE.rejected, message });
}
