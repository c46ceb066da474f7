import { isSystemError } from '@sluice/host-system';
/** Thrown where a symlink leads out of the volume; `code` is an errno name, as of the errors of `node:fs`. */
export class ConfinementError extends Error {
  override readonly name = 'ConfinementError';
  readonly code = 'ELOOP';
}

/** Whether `error` says that nothing (of this volume) is there. */
export function isAbsence(error: unknown): boolean {
  return isSystemError(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG');
}

/** An error as those of `node:fs`, with an errno name for its `code`. */
export function errno(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
