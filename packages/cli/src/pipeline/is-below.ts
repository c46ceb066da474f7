import { relative, sep } from 'node:path';

/** Whether an absolute path is below `directory`, and not `directory` itself. Links are not followed. */
export function isBelow(path: string, directory: string): boolean {
  const [first] = relative(directory, path).split(sep);
  return first !== '' && first !== '..';
}
