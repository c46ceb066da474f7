import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { CommandContext, GlobalOptions } from './command-context.ts';

/**
 * The directory that keeps runs, cache and the embedded service: `--home`, else `SLUICE_HOME`, else the nearest
 * `.sluice` in the working directory or above it, else `.sluice` in the working directory (docs/decisions/0001).
 */
export function findHome(
  { env, cwd }: Pick<CommandContext, 'env' | 'cwd'>,
  options: Pick<GlobalOptions, 'home'> = {},
): string {
  const given = options.home ?? (env.SLUICE_HOME || undefined);
  if (given !== undefined) return resolve(cwd, given);
  for (let directory = cwd; ; directory = dirname(directory)) {
    if (existsSync(join(directory, '.sluice'))) return join(directory, '.sluice');
    if (dirname(directory) === directory) return join(cwd, '.sluice');
  }
}

/** Makes the home where it is not there yet, for its owner alone, and keeps it out of the project's version control. */
export async function makeHome(home: string): Promise<void> {
  const first = await mkdir(home, { recursive: true, mode: 0o700 });
  if (first !== undefined) await writeFile(join(home, '.gitignore'), '*\n');
}
