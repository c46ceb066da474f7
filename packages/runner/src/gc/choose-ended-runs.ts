import path from 'node:path';
import {
  createSystemDisk,
  type Disk,
  listCachedRuns,
  listRunIds,
  readJournal,
  readSummary,
  removeFromCacheIndex,
  runDirectory,
} from '@sluice/home';
import { chooseGarbage } from './choose-garbage.ts';
import { findUser } from './find-user.ts';
import { type RunNeeds, readRunRecords } from './read-run-records.ts';

/** A home whose old runs are removed, while the data in their volumes stays. */
export interface EndedRunOptions {
  readonly home: string;
  /** Runs that ended before this time may be removed; milliseconds since the Unix epoch. */
  readonly endedBefore: number;
  /** Only this run may be removed. Default: all. */
  readonly only?: string;
  /** Default: the machine's file system. */
  readonly disk?: Disk;
  /** When it is aborted, no more runs are read, and none are chosen. */
  readonly signal?: AbortSignal;
}

/** The runs that may be removed. */
export interface EndedRuns {
  /** Oldest first. */
  readonly runIds: readonly string[];
  /** Why each other run that was read must stay, by its ID. */
  readonly kept: ReadonlyMap<string, string>;
  /**
   * Why a run must be kept after all; to be asked immediately before it is removed. Reads its journal, and the runs that
   * were started since the choice.
   */
  findReason(runId: string): Promise<string | undefined>;
}

/** Of a run whose journal cannot be read. */
const NOTHING: RunNeeds = { runs: new Set(), sources: new Set() };

/**
 * Chooses old runs by the rules of `collectGarbage`, with two differences, since the data in the volumes stays: the cache
 * protects no run, and neither does a run whose journal cannot be read. Otherwise a single damaged run would protect all.
 */
export async function chooseEndedRuns(options: EndedRunOptions): Promise<EndedRuns> {
  const { endedBefore, disk = createSystemDisk(), only, signal } = options;
  const home = path.resolve(options.home);
  const isOpen = () => signal?.aborted !== true;
  // Journals are only read if a run may be removed.
  const read = (await hasOldRun({ disk, home, endedBefore })) ? await readRunRecords(disk, home, isOpen) : [];
  const records = isOpen() ? read.map(({ needs = NOTHING, ...run }) => ({ ...run, needs })) : [];
  const known = new Set(records.map(({ runId }) => runId));
  const { remove, keep } = chooseGarbage(records, {
    ...{ endedBefore, cached: new Set(), ...(only !== undefined && { only: new Set([only]) }) },
    describeUseElsewhere: () => undefined,
  });
  return {
    runIds: remove.map(({ runId }) => runId),
    kept: new Map(keep.map(({ run, reason }) => [run.runId, reason])),
    async findReason(runId) {
      const since = await readRunRecords(disk, home, (id) => !known.has(id));
      const user = findUser(since, runId, { isCached: false });
      if (user !== undefined) return user;
      const journal = await readJournal(disk, runDirectory(home, runId));
      if (!journal.ok) return `its journal cannot be read: ${journal.error}`;
      const finished = journal.value.records.find((record) => record.kind === 'finished');
      if (finished === undefined) return 'its journal does not say that it has ended';
      return finished.at < endedBefore ? undefined : 'it is too recent';
    },
  };
}

async function hasOldRun({ disk, home, endedBefore }: EndedRunOptions & { readonly disk: Disk }): Promise<boolean> {
  for (const runId of await listRunIds(disk, home)) {
    const { endedAt } = (await readSummary(disk, runDirectory(home, runId))) ?? {};
    if (endedAt !== undefined && endedAt < endedBefore) return true;
  }
  return false;
}

/** Removes the entries of runs that the home no longer has from its cache. */
export async function forgetRemovedRuns(given: string, disk: Disk = createSystemDisk()): Promise<void> {
  const home = path.resolve(given);
  // Before the runs are listed: each entry is written after the directory of its run.
  const cached = await listCachedRuns(disk, home);
  const present = new Set(await listRunIds(disk, home));
  const gone = new Set([...cached].filter((runId) => !present.has(runId)));
  if (gone.size > 0) await removeFromCacheIndex(disk, home, gone);
}
