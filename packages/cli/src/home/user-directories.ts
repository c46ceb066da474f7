import { dirname, isAbsolute, join } from 'node:path';

/** Absolute paths of the user's own files, by the XDG base directory specification. */
export interface UserDirectories {
  /** Directory of the user's profiles, `NAME.yaml`. */
  readonly profiles: string;
  /** Directory of the confirmations that `sluice trust` writes. */
  readonly trusted: string;
}

/**
 * Undefined if the environment has neither HOME nor the XDG variables. Relative paths are ignored, as the specification
 * requires.
 */
export function findUserDirectories(env: NodeJS.ProcessEnv): UserDirectories | undefined {
  const config = base(env.XDG_CONFIG_HOME, env.HOME, '.config');
  const state = base(env.XDG_STATE_HOME, env.HOME, '.local/state');
  if (config === undefined || state === undefined) return undefined;
  return { profiles: join(config, 'sluice/profiles'), trusted: join(state, 'sluice/trusted') };
}

/** The directories with all of the user's own files. They may not exist. */
export function listUserDirectories(env: NodeJS.ProcessEnv): string[] {
  const directories = findUserDirectories(env);
  return directories === undefined ? [] : Object.values(directories).map((one: string) => dirname(one));
}

function base(named: string | undefined, home: string | undefined, below: string): string | undefined {
  if (named && isAbsolute(named)) return named;
  return home && isAbsolute(home) ? join(home, below) : undefined;
}
