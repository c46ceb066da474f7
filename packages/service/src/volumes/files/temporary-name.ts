import { randomBytes } from 'node:crypto';
import { TEMPORARY_PREFIX } from './confined-tree.ts';
import { joinVolumePath, splitVolumePath } from './volume-path.ts';

/** A name that nothing has, and that no client sees. */
export function temporaryName(prefix = TEMPORARY_PREFIX): string {
  return prefix + randomBytes(9).toString('hex');
}

/** Such a name in the directory that holds `path`. */
export function temporaryBeside(path: string, prefix?: string): string {
  return joinVolumePath(splitVolumePath(path).parent, temporaryName(prefix));
}
