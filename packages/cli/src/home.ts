import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/**
 * The directory that keeps runs, cache and the embedded service: `--home`, else `SLUICE_HOME`, else the nearest
 * `.sluice` in the working directory or above it, else `.sluice` in the working directory (docs/decisions/0001).
 */
export function findHome(options: { home?: string | undefined; env: NodeJS.ProcessEnv; cwd: string }): string {
  const given = options.home ?? (options.env.SLUICE_HOME || undefined);
  if (given !== undefined) return resolve(options.cwd, given);
  for (let directory = options.cwd; ; directory = dirname(directory)) {
    if (existsSync(join(directory, '.sluice'))) return join(directory, '.sluice');
    if (dirname(directory) === directory) return join(options.cwd, '.sluice');
  }
}

/** Makes the home where it is not there yet, for its owner alone, and keeps it out of the project's version control. */
export async function makeHome(home: string): Promise<void> {
  const first = await mkdir(home, { recursive: true, mode: 0o700 });
  if (first !== undefined) await writeFile(join(home, '.gitignore'), '*\n');
}
