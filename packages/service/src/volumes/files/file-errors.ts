import type { Stats } from 'node:fs';
import { isSystemError } from '@sluice/host-system';

/** A symlink leads out of the volume; `code` is an errno name, as in errors of `node:fs`. */
export class ConfinementError extends Error {
  override readonly name = 'ConfinementError';
  readonly code = 'ELOOP';
}

/** Whether `error` means that nothing of this volume is there. */
export function isAbsence(error: unknown): boolean {
  return isSystemError(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG');
}

/** Creates an error like those of `node:fs`, with an errno name as its `code`. */
export function errno(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

/** Throws `EISDIR` or `EINVAL` for anything else than a regular file. */
export function rejectUnlessFile(path: string, stats: Stats): void {
  if (stats.isFile()) return;
  if (stats.isDirectory()) throw errno('EISDIR', `could not open '${path}': it is a directory`);
  throw errno('EINVAL', `could not open '${path}': it is not a regular file`);
}
