import path from 'node:path';
import { type ContainerService, isServiceError } from '@sluice/client';
import {
  type Clock,
  createSystemClock,
  createSystemDisk,
  type Disk,
  type HomePlace,
  listCachedRuns,
  listScheduledRuns,
  withHomeLock,
} from '@sluice/home';
import { privateCopiesPath } from '@sluice/run';
import { listWorkspaces } from '../data/credentials.ts';
import { chooseGarbage } from './choose-garbage.ts';
import { collectSources, type FreedSource } from './collect-sources.ts';
import { findUser } from './find-user.ts';
import { lookAgain } from './look-again.ts';
import { markRuns, unmarkRun } from './mark-runs.ts';
import { type RunRecord, readRunRecords } from './read-run-records.ts';
import { describeAway, measureRun, openRunFiles, removeRun } from './remove-run.ts';
import { findUseElsewhere, type RunsElsewhere, type UnknownAccount } from './runs-elsewhere.ts';

/** What to remove, and from which home. */
export interface CollectOptions {
  /** The service on which the home's runs were executed. */
  readonly service: ContainerService;
  readonly home: string;
  /** Runs that ended longer ago may be removed. */
  readonly olderThanMs: number;
  /** Later runs are removed, too, oldest first, until all runs together have at most this many bytes. */
  readonly maxBytes?: number;
  /** Asks servers for runs that may use data of this home. Default: there are none. */
  readonly readElsewhere?: () => Promise<RunsElsewhere>;
  /** Report what would be removed, and remove nothing. */
  readonly dryRun?: boolean;
  /** Default: the machine's file system. */
  readonly disk?: Disk;
  /** Default: the machine's clock. */
  readonly clock?: Clock;
}

/** A run or source that was removed, or would be; `bytes` is the sum of home and volume. */
export type Freed =
  | { readonly kind: 'run'; readonly runId: string; readonly pipeline: string; readonly bytes: number }
  | FreedSource;

/** The result of a garbage collection. */
export interface GarbageReport {
  /** What was removed, or with `dryRun` would be. */
  readonly freed: readonly Freed[];
  /** Runs that were kept, with the reasons. */
  readonly kept: readonly { readonly runId: string; readonly pipeline: string; readonly reason: string }[];
  /** Messages about what could not be removed; the next collection tries again. */
  readonly problems: readonly string[];
}

/**
 * Removes what no run needs any more: the records, logs and volume data of old runs, their cache entries, and uploaded
 * sources. May be interrupted at any time: a run's record is removed last, so that the next collection continues.
 */
export function collectGarbage(given: CollectOptions): Promise<GarbageReport> {
  const place = {
    disk: given.disk ?? createSystemDisk(),
    clock: given.clock ?? createSystemClock(),
    home: path.resolve(given.home),
  };
  return withHomeLock({ ...place, name: 'gc' }, () => collect({ ...given, ...place }));
}

type Filled = CollectOptions & HomePlace;

async function collect(options: Filled): Promise<GarbageReport> {
  const { disk, home, clock, maxBytes } = options;
  const records = await readRunRecords(disk, home);
  const sizes = new Map<string, number>();
  if (maxBytes !== undefined) for (const run of records) sizes.set(run.runId, (await measureRun(options, run)) ?? 0);
  const cached = await listCachedRuns(disk, home);
  const endedBefore = clock.wall() - options.olderThanMs;
  const size = maxBytes === undefined ? {} : { size: { max: maxBytes, of: (id: string) => sizes.get(id) ?? 0 } };
  const readElsewhere = async () => findUseElsewhere((await options.readElsewhere?.()) ?? NONE, endedBefore);
  const elsewhere = await readElsewhere();
  const { describe: describeUseElsewhere } = elsewhere;
  const { remove, keep } = chooseGarbage(records, { endedBefore, cached, describeUseElsewhere, ...size });
  const kept = keep.map(({ run, reason }) => ({ runId: run.runId, pipeline: run.pipeline, reason }));
  const held = options.dryRun ? undefined : await markRuns(options, remove);
  const since = await lookAgain(options, records);
  // A rerun may have started since the first question, and cannot see the marks of this home.
  const later = remove.length === 0 ? elsewhere : await readElsewhere();
  // A schedule records a run before the run exists, so that those of all runs that may be removed are there.
  const scheduled = await listScheduledRuns(disk, home);
  const freed: Freed[] = [];
  const problems = later.unknown.map(describeUnknown);
  for (const run of remove) {
    const user = () => findUser(since, run.runId, { isCached: cached.has(run.runId) });
    const reason = held?.get(run.runId) ?? user() ?? later.describe(run);
    if (reason !== undefined) {
      kept.push({ runId: run.runId, pipeline: run.pipeline, reason });
      if (!options.dryRun) await unmarkRun(options, run);
      continue;
    }
    const bytes = await measureRun(options, run);
    const problem =
      bytes === undefined ? describeAway(run) : options.dryRun ? undefined : await removeRun(options, run, scheduled);
    if (problem === undefined) freed.push({ kind: 'run', runId: run.runId, pipeline: run.pipeline, bytes: bytes ?? 0 });
    else problems.push(problem);
  }
  if (!options.dryRun)
    await removePrivateCopies(
      options,
      keep.map(({ run }) => run),
    );
  const gone = new Set(freed.flatMap((item) => (item.kind === 'run' ? [item.runId] : [])));
  const staying = [...records, ...since, ...later.holding].filter(({ runId }) => !gone.has(runId));
  const workspaces = await listWorkspaces(options);
  const unknown = later.unknown;
  const sources = await collectSources(options, { records, staying, workspaces, unknown, usedBefore: endedBefore });
  return { freed: [...freed, ...sources.freed], kept, problems: [...problems, ...sources.problems] };
}

const NONE: RunsElsewhere = { runs: [], unknown: [] };

function describeUnknown({ url, clusterID, accountID, problem }: UnknownAccount): string {
  return `kept everything that runs of ${clusterID}/${accountID} on ${url} may use: could not ask which they are: ${problem}`;
}

/** Removes private copies of finished runs that are left because their volume did not answer at the end of the run. */
async function removePrivateCopies(options: Filled, runs: readonly RunRecord[]): Promise<void> {
  for (const run of runs) {
    if (!run.hasPrivateCopies || run.endedAt === undefined) continue;
    try {
      for (const files of await openRunFiles(options, run)) await files.remove(privateCopiesPath(run.runId));
    } catch (error) {
      // The next collection tries again.
      if (!isServiceError(error)) throw error;
    }
  }
}
