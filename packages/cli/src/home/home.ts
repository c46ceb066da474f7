import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';

/**
 * The absolute path of the home: `--home`, else `SLUICE_HOME`, else the nearest `.sluice` in the working directory or
 * above, else `.sluice` in the working directory (docs/decisions/0001). It may not exist yet.
 */
export function findHome(
  { env, cwd }: Pick<CommandContext, 'env' | 'cwd'>,
  options: Pick<GlobalOptions, 'home'> = {},
): string {
  const named = options.home || env.SLUICE_HOME;
  if (named) return resolve(cwd, named);
  for (let directory = cwd; ; directory = dirname(directory)) {
    if (existsSync(join(directory, '.sluice'))) return join(directory, '.sluice');
    if (dirname(directory) === directory) return join(cwd, '.sluice');
  }
}

/** Whether the user names the home. A home that is only found may come from a repository (docs/decisions/0035). */
export function isHomeNamed({ env }: Pick<CommandContext, 'env'>, options: Pick<GlobalOptions, 'home'>): boolean {
  return Boolean(options.home || env.SLUICE_HOME);
}

/** The option that names the home, for other commands of the same user. A home that was found is not named, but found again. */
export function selectHome({ home }: Pick<GlobalOptions, 'home'>): Pick<GlobalOptions, 'home'> {
  return home === undefined ? {} : { home };
}
