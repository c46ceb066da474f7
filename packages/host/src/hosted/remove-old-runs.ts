import { existsSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { fail, ok, type Result, renderDuration } from '@sluice/core';
import { isHosted, runDirectory, withRunClaim } from '@sluice/home';
import { chooseEndedRuns, forgetRemovedRuns } from '@sluice/runner';
import type { RunOrders } from '../api/run-api.ts';
import type { Followers } from '../runs/open-followers.ts';
import { deleteRemoved, finishRemovals, moveToRemoved, prepareRemovals } from './removed-runs.ts';

/** What removing the old runs of an account depends on. */
export interface RemovalParts {
  readonly home: string;
  /** Excludes requests about a run. */
  readonly orders: Pick<RunOrders, 'exclude'>;
  readonly followers: Pick<Followers, 'isUsed' | 'drop'>;
  readonly log: (line: string) => void;
  /** The time that removals use; milliseconds since the Unix epoch. */
  readonly now: () => number;
  /** Aborted when the server closes. */
  readonly closing: AbortSignal;
}

/**
 * Removes the runs that ended at least `retentionMs` ago, except those that a kept run reuses, that have an output to be
 * retained, or that a client or a process uses at this moment. First finishes what a killed process has begun. May be
 * interrupted at any time.
 */
export async function removeOldRuns(retentionMs: number, parts: RemovalParts): Promise<void> {
  const { home, log, now, closing } = parts;
  if (closing.aborted) return;
  await prepareRemovals(home);
  await finishRemovals(home, now());
  const chosen = await chooseEndedRuns({ home, endedBefore: now() - retentionMs, signal: closing });
  let count = 0;
  for (const runId of chosen.runIds) {
    if (closing.aborted) return;
    const isRemoved = await parts.orders.exclude(runId, () => remove(runId, parts, chosen.findReason));
    if (!isRemoved) continue;
    count++;
    await deleteRemoved(home, runId);
  }
  if (count > 0) log(`removed ${count} runs that ended more than ${renderDuration(retentionMs)} ago`);
  await forgetRemovedRuns(home);
}

/**
 * Removes an ended run of an account at the request of its user. `false`: there is no such run; the error says why it must
 * stay. The caller excludes requests about the run. If it is interrupted, the daily removal continues.
 */
export async function deleteEndedRun(home: string, runId: string): Promise<Result<boolean, string>> {
  const directory = runDirectory(home, runId);
  const hasEnded = () => !isHosted(home, runId);
  if (!existsSync(directory)) return ok(false);
  if (!hasEnded()) return fail(NOT_ENDED);
  if (!(await lstat(directory)).isDirectory()) return fail('the operator of the server has moved it elsewhere');
  await prepareRemovals(home);
  const chosen = await chooseEndedRuns({ home, endedBefore: Number.POSITIVE_INFINITY, only: runId });
  if (!chosen.runIds.includes(runId)) return fail(chosen.kept.get(runId) ?? NOT_ENDED);
  const removed = await withRunClaim({ home, runId }, async () => {
    const reason = hasEnded() ? await chosen.findReason(runId) : NOT_ENDED;
    if (reason !== undefined) return fail(reason);
    await moveToRemoved(home, runId);
    return ok(true);
  });
  if (removed === undefined) return fail('a process of the server uses it; try again');
  if (!removed.ok) return removed;
  await deleteRemoved(home, runId);
  await forgetRemovedRuns(home);
  return removed;
}

const NOT_ENDED = 'it has not ended; cancel it first';

/** Returns whether the run was removed. The next call tries again otherwise. */
async function remove(
  runId: string,
  { home, followers, log }: RemovalParts,
  findReason: (runId: string) => Promise<string | undefined>,
): Promise<boolean> {
  const directory = runDirectory(home, runId);
  // Until the mark is removed, the secrets of the run may not be.
  const hasEnded = () => !isHosted(home, runId);
  // A directory that an operator has moved elsewhere and linked is not the server's to remove.
  if (followers.isUsed(runId) || !hasEnded() || !(await lstat(directory)).isDirectory()) return false;
  const removed = await withRunClaim({ home, runId }, async () => {
    if (!hasEnded()) return false;
    const reason = await findReason(runId);
    if (reason === undefined) await moveToRemoved(home, runId);
    else log(`run ${runId}: not removed: ${reason}`);
    return reason === undefined;
  });
  if (removed) followers.drop(runId);
  return removed ?? false;
}
