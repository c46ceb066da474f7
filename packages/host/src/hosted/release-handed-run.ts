import { existsSync } from 'node:fs';
import { runDirectory } from '@sluice/home';
import { detachRun, readHandedJournal } from '@sluice/runner';
import type { z } from 'zod';
import { ApiError, fromRefusal } from '../errors/api-error.ts';
import { unmarkHosted } from '../execute/hosted-mark.ts';
import type { releaseReply } from '../schemas/hand-over.ts';
import type { HandOverParts } from './hand-over-parts.ts';
import { type ReleaseRecord, readRelease, writeRelease } from './release-record.ts';
import { removeStaged } from './staged-files.ts';

/**
 * Leaves a run to its client. The record of the release is written first: from then on no process of this server resumes
 * the run, also if this one is killed before it replies. A run that was never started cannot be started by a delayed
 * request either, since its files are gone.
 */
export async function releaseHandedRun(
  runId: string,
  { home, host, secrets }: Pick<HandOverParts, 'home' | 'host' | 'secrets'>,
): Promise<z.input<typeof releaseReply>> {
  await removeStaged(home, runId);
  if (!existsSync(runDirectory(home, runId))) return { runId };
  const known = await readRelease(home, runId);
  if (known?.journal !== undefined) return { runId, ...known };
  await writeRelease(home, runId, {});
  await host.leave(runId);
  // Also a process that resumed the run only to cancel it.
  const left = await detachRun({ home, runId });
  if (!left.ok) throw fromRefusal(left.error);
  const read = await readHandedJournal(home, runId);
  if (!read.ok) throw new ApiError(409, 'JOURNAL_DAMAGED', `could not release run ${runId}: ${read.error}`);
  const { size, sha256, status = 'suspended' } = read.value;
  const record: ReleaseRecord = { status, journal: { size, sha256 } };
  await secrets.remove(runId);
  await writeRelease(home, runId, record);
  await unmarkHosted(home, runId);
  return { runId, ...record };
}
