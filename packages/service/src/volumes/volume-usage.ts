import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { storagePaths } from '../storage/storage-paths.ts';

/** Minimum pause between two measurements of an account's volumes, and its proportion to the duration of a measurement. */
const LOOK_MS = 60_000;
const PAUSE_PER_LOOK = 10;
/** Size of a block in stat(2), independent of the file system. */
const BLOCK_BYTES = 512;

interface Usage {
  bytes: number;
  /** Time of the next measurement, by a monotonic clock. */
  nextLook: number;
  look: Promise<void> | undefined;
}

/**
 * Measures the disk usage of accounts' volumes, on request and at most once a minute. Between measurements, only uploads are
 * counted; what containers write is included in the next measurement.
 */
export interface VolumeUsage {
  /** The last measurement in bytes; measures first if there is none or it is too old. */
  measure(accountID: string): Promise<number>;
  /** The last measurement, without a new one; undefined before the first. */
  known(accountID: string): number | undefined;
  /** Counts an upload that has been admitted. */
  add(accountID: string, bytes: number): void;
}

/** `storage` is the cluster's storage directory. */
export function createVolumeUsage(storage: string): VolumeUsage {
  const usages = new Map<string, Usage>();
  const look = async (accountID: string, usage: Usage): Promise<void> => {
    const begin = performance.now();
    usage.bytes = await measureTree(join(storagePaths.volumes(storage), accountID));
    const end = performance.now();
    usage.nextLook = end + Math.max(LOOK_MS, PAUSE_PER_LOOK * (end - begin));
    usage.look = undefined;
  };
  return {
    async measure(accountID) {
      let usage = usages.get(accountID);
      if (usage === undefined) {
        usage = { bytes: 0, nextLook: 0, look: undefined };
        usages.set(accountID, usage);
      }
      if (performance.now() >= usage.nextLook) usage.look ??= look(accountID, usage);
      await usage.look;
      return usage.bytes;
    },
    known: (accountID) => usages.get(accountID)?.bytes,
    add(accountID, bytes) {
      const usage = usages.get(accountID);
      if (usage !== undefined) usage.bytes += bytes;
    },
  };
}

/** Files that are removed in the meantime or cannot be read count as 0. */
async function measureTree(directory: string): Promise<number> {
  let bytes = 0;
  const open = [directory];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const entries: Dirent[] = await readdir(next, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(next, entry.name);
      if (entry.isDirectory()) open.push(path);
      else bytes += ((await lstat(path).catch(() => undefined))?.blocks ?? 0) * BLOCK_BYTES;
    }
  }
  return bytes;
}
