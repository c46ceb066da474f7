/** Thrown where a symlink leads out of the volume; `code` is an errno name, as of the errors of `node:fs`. */
export class ConfinementError extends Error {
  override readonly name = 'ConfinementError';
  readonly code = 'ELOOP';
}

/** The errno name of an error of `node:fs`. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}

/** Whether `error` says that nothing (of this volume) is there. */
export function isAbsence(error: unknown): boolean {
  const code = errnoOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP' || code === 'ENAMETOOLONG';
}

/** An error as those of `node:fs`, with an errno name for its `code`. */
export function errno(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
