import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { storagePaths } from '../storage/storage-paths.ts';

/** Between the end of one look at an account's volumes and the next, and in proportion to how long the look took. */
const LOOK_MS = 60_000;
const PAUSE_PER_LOOK = 10;
/** Bytes of a block, whatever the file system calls a block (stat(2)). */
const BLOCK_BYTES = 512;

interface Usage {
  bytes: number;
  /** Before this, nothing is measured again; by a clock that nobody sets. */
  nextLook: number;
  look: Promise<void> | undefined;
}

/**
 * How much the volumes of accounts take on a storage. They are measured when somebody asks, at most once a minute: what
 * containers write is seen then, and what is uploaded at once. Nothing is measured of accounts that nobody asks about.
 */
export interface VolumeUsage {
  /** As measured last; the first time, and where that is long ago, after measuring. */
  measure(accountID: string): Promise<number>;
  /** As known now, without measuring; undefined before the first measurement. */
  known(accountID: string): number | undefined;
  /** So much more is being uploaded. */
  add(accountID: string, bytes: number): void;
}

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

/** What vanishes meanwhile, or cannot be read, takes nothing. */
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
