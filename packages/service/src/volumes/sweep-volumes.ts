import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../host/clock.ts';
import { openConfinedTree } from './files/confined-tree.ts';
import { sweepTemporaries } from './files/sweep-temporaries.ts';

const DAY_MS = 86_400_000;

export interface VolumeSweepOptions {
  /** The service's directory: a file in it says that an earlier process did not close. */
  readonly root: string;
  /** Where clusters keep their volumes now: a directory of accounts each. */
  readonly directories: () => readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Removes what broken uploads have left in the volumes: all that an earlier process left if it was killed, and each day
 * whatever nobody has written to for a day. Returns what stops it, which tells the next start that nothing was left.
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
      if (removed > 0) log.info({ removed }, 'half-written files of broken uploads were removed');
    } catch (error) {
      log.error({ err: error }, 'half-written files of broken uploads could not be removed');
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
