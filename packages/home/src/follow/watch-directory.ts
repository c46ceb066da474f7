import type { Clock } from '../clock.ts';
import type { Disk } from '../journal/disk.ts';

/** Changes by other machines are not reported; they are found at this interval. */
const POLL_MS = 2_000;
/** A busy run changes its journal a thousand times a second. */
const PAUSE_MS = 15;

/** Calls `refresh` after changes in the directory and at intervals, one call after the other. */
export function watchDirectory(
  { disk, clock, directory }: { disk: Disk; clock: Clock; directory: string },
  refresh: () => Promise<unknown>,
): () => void {
  let isStopped = false;
  let isBusy = false;
  let hasChanged = false;
  let cancelTimer = () => {};

  function later(ms: number): void {
    cancelTimer();
    if (!isStopped) cancelTimer = clock.setTimer(clock.now() + ms, () => void look());
  }
  async function look(): Promise<void> {
    isBusy = true;
    hasChanged = false;
    cancelTimer();
    await refresh();
    // Changes during the pause wait for its end.
    cancelTimer = clock.setTimer(clock.now() + PAUSE_MS, () => {
      isBusy = false;
      if (hasChanged) void look();
      else later(POLL_MS);
    });
    if (isStopped) cancelTimer();
  }

  const stopWatching = disk.watch(directory, () => {
    hasChanged = true;
    if (!isBusy && !isStopped) void look();
  });
  void look();
  return () => {
    isStopped = true;
    cancelTimer();
    stopWatching();
  };
}
