import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Holds the shell launcher; same place from `src` and from `dist`. */
export const NATIVE_DIRECTORY = fileURLToPath(new URL('../../native', import.meta.url));
const requireInstalled = createRequire(import.meta.url);

/**
 * Path of a native program: the one that this checkout has compiled, else the one of the optional package for this
 * platform. Where neither exists, the path of the former, which nothing is at.
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
