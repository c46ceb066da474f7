import { relative } from 'node:path';

/** The path relative to the working directory if it is below it, else unchanged. */
export function shortPath(path: string, cwd: string): string {
  const short = relative(cwd, path) || '.';
  return short.startsWith('..') ? path : short;
}
