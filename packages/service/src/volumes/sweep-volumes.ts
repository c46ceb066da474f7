import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../host/clock.ts';
import { openConfinedTree } from './files/confined-tree.ts';
import { sweepTemporaries } from './files/sweep-temporaries.ts';

const DAY_MS = 86_400_000;

/** What to sweep. */
export interface VolumeSweepOptions {
  /** The service's data root. A file in it marks that an earlier process did not close. */
  readonly root: string;
  /** The clusters' current volume directories; each contains one directory per account. */
  readonly directories: () => readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Removes the remains of interrupted uploads: at the start everything of an earlier process that was killed, and then daily
 * what was not written to for a day. Returns a function that stops it and records that nothing is left.
 */
export function startVolumeSweep(options: VolumeSweepOptions): () => Promise<void> {
  const { root, clock, log } = options;
  const marker = join(root, 'is-open');
  let isLeft = existsSync(marker);
  writeFileSync(marker, '');
  let stopped = false;
  let cancel = () => {};
  const sweep = async (before: number): Promise<void> => {
    try {
      const removed = await sweepAll(options, { before, isStopped: () => stopped });
      if (!stopped) isLeft = false;
      if (removed > 0) log.info({ removed }, 'removed incomplete files of interrupted uploads');
    } catch (error) {
      log.error({ err: error }, 'could not remove incomplete files of interrupted uploads');
    }
  };
  const inADay = () => {
    if (stopped) return;
    cancel = clock.after(DAY_MS, async () => {
      await sweep(clock.now() - DAY_MS);
      inADay();
    });
  };
  const first = isLeft ? sweep(Number.NEGATIVE_INFINITY) : Promise.resolve();
  void first.then(inADay);
  return async () => {
    stopped = true;
    cancel();
    await first;
    if (!isLeft) rmSync(marker, { force: true });
  };
}

async function sweepAll(
  { directories }: VolumeSweepOptions,
  look: { before: number; isStopped: () => boolean },
): Promise<number> {
  let removed = 0;
  for (const directory of directories()) {
    for (const account of namesIn(directory)) {
      for (const volume of namesIn(join(directory, account))) {
        removed += await sweepTemporaries(openConfinedTree(join(directory, account, volume)), look);
      }
    }
  }
  return removed;
}

function namesIn(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory).sort() : [];
}
