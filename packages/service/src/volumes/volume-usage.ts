import type { Dirent, Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { StorageAccess } from '../storage/storage-access.ts';
import { storagePaths } from '../storage/storage-paths.ts';
import { StorageSpace } from './storage-space.ts';

/** Minimum pause between two measurements of an account's volumes, and its proportion to the duration of a measurement. */
const LOOK_MS = 60_000;
const PAUSE_PER_LOOK = 10;

interface Usage {
  readonly space: StorageSpace;
  isKnown: boolean;
  /** Time of the next measurement, by a monotonic clock. */
  nextLook: number;
  /** The earliest that it may be. */
  soonestLook: number;
  look: Promise<void> | undefined;
  /** Measures without a request, because the count is known to be wrong. */
  timer: NodeJS.Timeout | undefined;
}

/**
 * Measures the disk usage of accounts' volumes, on request and at most once a minute. Between measurements, each account's
 * `StorageSpace` counts what the service itself stores and removes; what containers write is included in the next one.
 */
export interface VolumeUsage {
  /** The bytes in use; measures first if that has not been done or is too long ago. */
  measure(accountID: string): Promise<number>;
  /** The bytes in use, without a measurement; undefined before the first. */
  known(accountID: string): number | undefined;
  /** Counts what is stored in the account's volumes; the same object for each call. */
  spaceOf(accountID: string): StorageSpace;
  /** Lets the next request measure: a volume of unknown size was removed. */
  expire(accountID: string): void;
}

/** What a cluster's volumes are limited by. */
export interface VolumeUsageOptions {
  /** The cluster's storage directory. */
  readonly storage: string;
  readonly access: StorageAccess;
  /** The quota of an account as it is now, in bytes; undefined without one. */
  readonly limitOf: (accountID: string) => number | undefined;
}

/** Measures nothing before the first request of an account. */
export function createVolumeUsage({ storage, access, limitOf }: VolumeUsageOptions): VolumeUsage {
  const usages = new Map<string, Usage>();
  const look = async (accountID: string, usage: Usage): Promise<void> => {
    const begin = performance.now();
    usage.nextLook = Number.POSITIVE_INFINITY;
    usage.soonestLook = Number.POSITIVE_INFINITY;
    const directory = join(storagePaths.volumes(storage), accountID);
    const isExact = await usage.space.measure((bytesOf) => measureTree({ directory, access }, bytesOf));
    const end = performance.now();
    const pause = PAUSE_PER_LOOK * (end - begin);
    usage.soonestLook = end + pause;
    // What was added during the measurement may count twice until the next.
    const next = isExact ? end + Math.max(LOOK_MS, pause) : usage.soonestLook;
    // Unless it has expired meanwhile.
    usage.nextLook = Math.min(usage.nextLook, next);
    usage.isKnown = true;
    usage.look = undefined;
    if (!isExact) hasten(accountID, usage);
  };
  const refresh = (accountID: string, usage: Usage): Promise<void> | undefined => {
    if (performance.now() >= usage.nextLook) usage.look ??= look(accountID, usage);
    return usage.look;
  };
  const hasten = (accountID: string, usage: Usage): void => {
    if (limitOf(accountID) !== undefined) lookSoon(usage, () => void refresh(accountID, usage));
  };
  const usageOf = (accountID: string): Usage => {
    const found = usages.get(accountID);
    if (found !== undefined) return found;
    const space = new StorageSpace({
      limit() {
        const limit = limitOf(accountID);
        // In the background: an upload does not wait until all files are measured.
        if (limit !== undefined) void refresh(accountID, usage);
        return limit;
      },
      onInexact: () => hasten(accountID, usage),
    });
    const usage: Usage = { space, isKnown: false, nextLook: 0, soonestLook: 0, look: undefined, timer: undefined };
    usages.set(accountID, usage);
    return usage;
  };
  return {
    async measure(accountID) {
      const usage = usageOf(accountID);
      await refresh(accountID, usage);
      return usage.space.bytes;
    },
    known(accountID) {
      const usage = usages.get(accountID);
      return usage?.isKnown === true ? usage.space.bytes : undefined;
    },
    spaceOf: (accountID) => usageOf(accountID).space,
    expire(accountID) {
      const usage = usages.get(accountID);
      if (usage !== undefined) usage.nextLook = 0;
    },
  };
}

/** Measures at the earliest permitted time, also without a request. */
function lookSoon(usage: Usage, refresh: () => void): void {
  usage.nextLook = Math.min(usage.nextLook, usage.soonestLook);
  // A measurement in progress may have begun too early: if so, this is called again at its end.
  if (usage.timer !== undefined || usage.look !== undefined) return;
  const waitMs = Math.max(0, usage.nextLook - performance.now());
  const timer = setTimeout(() => {
    usage.timer = undefined;
    // A timer can fire up to a millisecond early, and the next measurement would then only follow a request.
    if (performance.now() < usage.nextLook) lookSoon(usage, refresh);
    else refresh();
  }, waitMs);
  usage.timer = timer.unref();
}

/** Files that are removed in the meantime or cannot be read count as 0. */
async function measureTree(
  { directory, access }: { directory: string; access: StorageAccess },
  bytesOf: (stats: Stats) => number,
): Promise<number> {
  let bytes = 0;
  const open = [directory];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const entries: Dirent[] = await access.inThread(() => readdir(next, { withFileTypes: true })).catch(() => []);
    for (const entry of entries) {
      const path = join(next, entry.name);
      if (entry.isDirectory()) {
        open.push(path);
        continue;
      }
      const stats = await access.inThread(() => lstat(path)).catch(() => undefined);
      if (stats !== undefined) bytes += bytesOf(stats);
    }
  }
  return bytes;
}
