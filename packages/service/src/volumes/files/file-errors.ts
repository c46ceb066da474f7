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
