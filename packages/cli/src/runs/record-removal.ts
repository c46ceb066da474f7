import { isServiceError } from '@sluice/client';
import { moveRun, recordRemovedRun } from '@sluice/home';
import { z } from 'zod';

const ended = z.object({ status: z.enum(['succeeded', 'failed', 'canceled']), endedAt: z.iso.datetime() });

/** Whether a server has replied that it had the run, and has removed it. */
export function isRemoved(error: unknown): error is Error {
  return isServiceError(error) && error.reason === 'RUN_REMOVED';
}

/**
 * Records in this home that its server has removed a run, if that is why a request about it failed. From then on the run
 * counts as ended here, also if the copy of its journal is incomplete. The caller holds the lock of the copy. Returns whether
 * it is so.
 */
export async function recordRemoval(home: string, runId: string, error: unknown): Promise<boolean> {
  if (!isRemoved(error)) return false;
  // The request of a killed command has arrived.
  await moveRun({ home, runId }, 'accept');
  const parsed = ended.safeParse(isServiceError(error) ? error.details : {});
  if (!parsed.success) return true;
  const { status, endedAt } = parsed.data;
  await recordRemovedRun(home, { runId, status, endedAt: Date.parse(endedAt) });
  return true;
}
