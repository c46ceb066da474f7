import { relative } from 'node:path';

/** Relative to the working directory where that is no detour. */
export function shortPath(path: string, cwd: string): string {
  const short = relative(cwd, path) || '.';
  return short.startsWith('..') ? path : short;
}
