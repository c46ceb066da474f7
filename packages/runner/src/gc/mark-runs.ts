import { type HomePlace, moveCustody, removeFromCacheIndex, runDirectory } from '@sluice/home';
import type { RunRecord } from './read-run-records.ts';

type Place = Pick<HomePlace, 'disk' | 'home'>;

/**
 * Marks runs that are to be removed, so that no other run uses them from now on. Returns, by ID, why the others could not be
 * marked: another process has them, although they have ended.
 */
export async function markRuns(
  { disk, home }: Place,
  runs: readonly RunRecord[],
): Promise<ReadonlyMap<string, string>> {
  const held = new Map<string, string>();
  for (const { runId } of runs) {
    const moved = await moveCustody({ disk, directory: runDirectory(home, runId) }, 'collect');
    if (!moved.ok) held.set(runId, moved.error);
  }
  await removeFromCacheIndex(disk, home, new Set(runs.map(({ runId }) => runId)));
  return held;
}

/** Removes the mark of a run that stays. */
export async function unmarkRun({ disk, home }: Place, { runId }: RunRecord): Promise<void> {
  await moveCustody({ disk, directory: runDirectory(home, runId) }, 'keep');
}
