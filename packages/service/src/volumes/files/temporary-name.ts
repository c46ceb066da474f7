import { randomBytes } from 'node:crypto';
import { TEMPORARY_PREFIX } from './confined-tree.ts';
import { joinVolumePath, splitVolumePath } from './volume-path.ts';

/** Tells this process's names from those of earlier ones: what an earlier one has left, nobody is writing any more. */
const OWN_MARK = randomBytes(6).toString('hex');
const NAME_LENGTH = `${OWN_MARK}-${'0'.repeat(18)}`.length;

/** A name that nothing has, and that no client sees. */
export function temporaryName(prefix = TEMPORARY_PREFIX): string {
  return `${prefix}${OWN_MARK}-${randomBytes(9).toString('hex')}`;
}

/** Such a name in the directory that holds `path`. */
export function temporaryBeside(path: string, prefix?: string): string {
  return joinVolumePath(splitVolumePath(path).parent, temporaryName(prefix));
}

/** Whether this process made the name; else the process that did is gone, since two never serve one volume. */
export function isOwnTemporary(name: string): boolean {
  return name.startsWith(TEMPORARY_PREFIX) && name.slice(-NAME_LENGTH).startsWith(`${OWN_MARK}-`);
}
