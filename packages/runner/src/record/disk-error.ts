import { fail, type Result } from '@sluice/core';
import { systemErrorCode } from '@sluice/host-system';
import { JournalFailure } from '../journal/journal-failure.ts';
import type { RunRefusal } from './run-refusal.ts';

const CODES = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EACCES', 'EPERM', 'ENOTDIR', 'EMFILE', 'ENFILE']);

/** Whether the disk of the home could not do what was asked: the user's to mend, and no bug. */
export function isDiskError(error: unknown): boolean {
  if (error instanceof JournalFailure) return true;
  return error instanceof Error && CODES.has(systemErrorCode(error) ?? '');
}

/** Makes a refusal of what the disk could not do. */
export async function refuseDiskErrors<T>(
  home: string,
  action: () => Promise<Result<T, RunRefusal>>,
): Promise<Result<T, RunRefusal>> {
  try {
    return await action();
  } catch (error) {
    if (!isDiskError(error)) throw error;
    return fail({ code: 'HOME_UNUSABLE', message: `could not use the home ${home}: ${(error as Error).message}` });
  }
}
