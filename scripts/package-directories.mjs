import { accessSync, constants } from 'node:fs';
import { dirname, join } from 'node:path';

/** pnpm's own directories: the variable that names the one above, else its place in the user's home. */
const DIRECTORIES = {
  'store-dir': ['XDG_DATA_HOME', '.local/share'],
  'cache-dir': ['XDG_CACHE_HOME', '.cache'],
  'state-dir': ['XDG_STATE_HOME', '.local/state'],
};

/**
 * Options of pnpm for those of its directories that cannot be created in the home, which may be read-only: they are below
 * `tools` then. pnpm by itself fails, or leaves its store beside or in the checkout.
 */
export function movePackageDirectories({ home, env, tools }) {
  return Object.entries(DIRECTORIES)
    .filter(([, [variable, below]]) => !canCreate(join(env[variable] || join(home, below), 'pnpm')))
    .map(([option]) => `--config.${option}=${join(tools, `pnpm-${option}`)}`);
}

/** Whether the directory, or the nearest one above that exists, can be written. */
function canCreate(directory) {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch (error) {
    return error.code === 'ENOENT' && dirname(directory) !== directory && canCreate(dirname(directory));
  }
}
