import { randomBytes } from 'node:crypto';
import { TEMPORARY_PREFIX } from './confined-tree.ts';
import { joinVolumePath, splitVolumePath } from './volume-path.ts';

/** Distinguishes this process's names from those of earlier processes, whose files are no longer written. */
const OWN_MARK = randomBytes(6).toString('hex');
const NAME_LENGTH = `${OWN_MARK}-${'0'.repeat(18)}`.length;

/** A unique name, hidden from clients. */
export function temporaryName(prefix = TEMPORARY_PREFIX): string {
  return `${prefix}${OWN_MARK}-${randomBytes(9).toString('hex')}`;
}

/** A temporary name in the directory of `path`. */
export function temporaryBeside(path: string, prefix?: string): string {
  return joinVolumePath(splitVolumePath(path).parent, temporaryName(prefix));
}

/** Whether this process created the name. Otherwise its process has ended, because two processes never serve one volume. */
export function isOwnTemporary(name: string): boolean {
  return name.startsWith(TEMPORARY_PREFIX) && name.slice(-NAME_LENGTH).startsWith(`${OWN_MARK}-`);
}
