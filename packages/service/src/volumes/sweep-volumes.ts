import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isSystemError } from '@sluice/host-system';
import type { Logger } from 'pino';
import type { Clock } from '../protocol/clock.ts';
import { checkAnswer, type StorageAccess } from '../storage/storage-access.ts';
import { storagePaths } from '../storage/storage-paths.ts';
import { openConfinedTree } from './files/confined-tree.ts';
import { sweepTemporaries } from './files/sweep-temporaries.ts';

const DAY_MS = 86_400_000;

interface SweptCluster {
  readonly storage: string;
  readonly storageAccess: StorageAccess;
}

/** What to sweep. */
export interface VolumeSweepOptions {
  /** The service's data root. A file in it marks that an earlier process did not close. */
  readonly root: string;
  /** The current clusters, with their storages. */
  readonly clusters: ReadonlyMap<string, SweptCluster>;
  readonly clock: Clock;
  /** The time that removals use. */
  readonly now: () => number;
  readonly log: Logger;
}

/**
 * Removes the remains of interrupted uploads: at the start everything of an earlier process that was killed, and then daily
 * what was not written to for a day. Returns a function that stops it and records that nothing is left.
 */
export function startVolumeSweep(options: VolumeSweepOptions): () => Promise<void> {
  const { root, clusters, clock, now, log } = options;
  const marker = join(root, 'is-open');
  let isLeft = existsSync(marker);
  writeFileSync(marker, '');
  let stopped = false;
  let cancel = () => {};
  const sweep = async (before: number): Promise<void> => {
    let isDone = true;
    for (const cluster of clusters.values()) {
      try {
        const removed = await sweepAll(cluster, { before, isStopped: () => stopped });
        if (removed > 0) log.info({ removed }, 'removed incomplete files of interrupted uploads');
      } catch (error) {
        isDone = false;
        log.error({ err: error }, 'could not remove incomplete files of interrupted uploads');
      }
    }
    if (isDone && !stopped) isLeft = false;
  };
  const inADay = () => {
    if (stopped) return;
    cancel = clock.after(DAY_MS, async () => {
      await sweep(now() - DAY_MS);
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
  { storage, storageAccess }: SweptCluster,
  look: { before: number; isStopped: () => boolean },
): Promise<number> {
  let removed = 0;
  const directory = storagePaths.volumes(storage);
  await checkAnswer(storageAccess);
  for (const account of await namesIn(storageAccess, directory)) {
    for (const volume of await namesIn(storageAccess, join(directory, account))) {
      await checkAnswer(storageAccess);
      const tree = openConfinedTree(join(directory, account, volume), { storage: storageAccess });
      removed += await sweepTemporaries(tree, look);
    }
  }
  return removed;
}

async function namesIn(storage: StorageAccess, directory: string): Promise<string[]> {
  try {
    return (await storage.inThread(() => readdir(directory))).sort();
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return [];
    throw error;
  }
}
