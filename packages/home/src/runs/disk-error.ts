import { fail, type Result } from '@sluice/core';
import { systemErrorCode } from '@sluice/host-system';
import type { RunError } from '@sluice/run';
import { JournalFailure } from '../journal/journal-failure.ts';

const CODES = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EACCES', 'EPERM', 'ENOTDIR', 'EMFILE', 'ENFILE']);

/** Whether an error means that the home's disk is full, read-only or failing: a problem for the user to fix, not a bug. */
export function isDiskError(error: unknown): boolean {
  if (error instanceof JournalFailure) return true;
  return error instanceof Error && CODES.has(systemErrorCode(error) ?? '');
}

/** Turns a thrown disk error into the rejection `HOME_UNUSABLE`. Rethrows all other errors. */
export async function rejectDiskErrors<T, E = never>(
  home: string,
  action: () => Promise<Result<T, E | RunError>>,
): Promise<Result<T, E | RunError>> {
  try {
    return await action();
  } catch (error) {
    if (!isDiskError(error)) throw error;
    return fail({ code: 'HOME_UNUSABLE', message: `could not use the home ${home}: ${(error as Error).message}` });
  }
}
