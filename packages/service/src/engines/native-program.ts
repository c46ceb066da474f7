import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Contains the shell launcher; the relative path is the same from `src` and `dist`. */
export const NATIVE_DIRECTORY = fileURLToPath(new URL('../../native', import.meta.url));
const requireInstalled = createRequire(import.meta.url);

/**
 * Path of a native program: the one compiled in this checkout, otherwise the one of the optional package for this platform.
 * If neither exists, the path of the former, which then does not exist.
 */
export function findNativeProgram(name: 'launcher' | 'first-process'): string {
  const compiled = join(NATIVE_DIRECTORY, 'build', name);
  if (existsSync(compiled)) return compiled;
  const installed = findInstalled(name);
  return installed !== undefined && existsSync(installed) ? installed : compiled;
}

function findInstalled(name: string): string | undefined {
  try {
    const manifest = requireInstalled.resolve(`@sluice/launcher-${process.platform}-${process.arch}/package.json`);
    return join(dirname(manifest), 'bin', name);
  } catch {
    return undefined;
  }
}
