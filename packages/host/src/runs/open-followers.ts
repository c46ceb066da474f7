import { followRun, isRunId, type RunFollower } from '@sluice/home';
import { ApiError, fromRunError } from '../errors/api-error.ts';

/** Runs that are kept in memory after the last request about them. */
const KEPT = 16;

/** A run that is not dropped from memory until it is released. */
export interface UsedRun {
  readonly run: RunFollower;
  release(): void;
}

/** The runs of a home, each read by one follower for all clients. */
export interface Followers {
  /** A run as its journal is now. Throws `ApiError`. */
  read(runId: string): Promise<RunFollower>;
  /** A run to subscribe to. Throws `ApiError`. */
  use(runId: string): Promise<UsedRun>;
  /** Whether a client has subscribed to a run. */
  isUsed(runId: string): boolean;
  /** Drops a run that was removed. */
  drop(runId: string): void;
}

interface Entry {
  readonly opening: Promise<RunFollower>;
  users: number;
}

/** Reads nothing until a run is requested. */
export function openFollowers(home: string): Followers {
  /** The most recently used last. */
  const entries = new Map<string, Entry>();

  async function open(runId: string): Promise<RunFollower> {
    const followed = await followRun({ home, runId });
    if (!followed.ok) throw fromRunError(followed.error);
    return followed.value;
  }

  function entryOf(runId: string): Entry {
    if (!isRunId(runId)) throw new ApiError(404, 'RUN_NOT_FOUND', 'could not find the run: its ID is invalid');
    let entry = entries.get(runId);
    if (entry === undefined) {
      const opening = open(runId);
      entry = { opening, users: 0 };
      opening.catch(() => entries.delete(runId));
    }
    entries.delete(runId);
    entries.set(runId, entry);
    return entry;
  }

  function dropUnused(): void {
    for (const [runId, { users }] of entries) {
      if (entries.size <= KEPT) return;
      if (users === 0) entries.delete(runId);
    }
  }

  return {
    async read(runId) {
      const isKnown = entries.has(runId);
      const run = await entryOf(runId).opening;
      dropUnused();
      if (!isKnown) return run;
      const refreshed = await run.refresh();
      if (refreshed.ok) return run;
      entries.delete(runId);
      throw fromRunError(refreshed.error);
    },
    async use(runId) {
      const entry = entryOf(runId);
      entry.users++;
      const run = await entry.opening;
      return {
        run,
        release() {
          entry.users--;
          dropUnused();
        },
      };
    },
    isUsed: (runId) => (entries.get(runId)?.users ?? 0) > 0,
    drop: (runId) => void entries.delete(runId),
  };
}
