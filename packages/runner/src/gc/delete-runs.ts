import path from 'node:path';
import type { ContainerService } from '@sluice/client';
import { fail, ok, type Result } from '@sluice/core';
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
import { chooseGarbage } from './choose-garbage.ts';
import type { Freed } from './collect-garbage.ts';
import { findUser } from './find-user.ts';
import { lookAgain } from './look-again.ts';
import { markRuns, unmarkRun } from './mark-runs.ts';
import { type RunRecord, readRunRecords } from './read-run-records.ts';
import { describeAbsence, measureRun, removeRun } from './remove-run.ts';
import { findUseElsewhere, type RunsElsewhere } from './runs-elsewhere.ts';

/** The runs to delete, and their home. */
export interface DeleteRunsOptions {
  /** The service on which the runs were executed. */
  readonly service: ContainerService;
  readonly home: string;
  readonly runIds: readonly string[];
  /** Asks servers for runs that may use data of this home. Default: there are none. */
  readonly readElsewhere?: () => Promise<RunsElsewhere>;
  /** Called before a run is removed here: has its server remove it, too. Returns why that is impossible; then the run stays. */
  readonly removeElsewhere?: (runId: string) => Promise<string | undefined>;
  /** Default: the machine's file system. */
  readonly disk?: Disk;
  /** Default: the machine's clock. */
  readonly clock?: Clock;
}

/** What was deleted. */
export interface DeletedRuns {
  readonly freed: readonly Extract<Freed, { readonly kind: 'run' }>[];
  /** Messages about what could not be removed; the next collection tries again. */
  readonly problems: readonly string[];
}

/** A run that must not be deleted, and why. */
export interface UndeletableRun {
  readonly runId: string;
  readonly reason: string;
}

type Filled = DeleteRunsOptions & HomePlace;
type Chosen = Result<readonly RunRecord[], readonly UndeletableRun[]>;

/**
 * Removes ended runs, whatever their age, by the rules of `collectGarbage`; sources are left to it. Removes nothing if one
 * of the runs must stay: the error lists these. If it is interrupted, the next collection continues.
 */
export function deleteRuns(given: DeleteRunsOptions): Promise<Result<DeletedRuns, readonly UndeletableRun[]>> {
  const place = {
    disk: given.disk ?? createSystemDisk(),
    clock: given.clock ?? createSystemClock(),
    home: path.resolve(given.home),
  };
  return withHomeLock({ ...place, name: 'gc' }, () => deleteAll({ ...given, ...place }));
}

async function deleteAll(options: Filled): Promise<Result<DeletedRuns, readonly UndeletableRun[]>> {
  const { disk, home } = options;
  const records = await readRunRecords(disk, home);
  const cached = await listCachedRuns(disk, home);
  const chosen = await choose(options, records, cached);
  if (!chosen.ok) return chosen;
  const sizes = new Map<string, number>();
  for (const run of chosen.value) {
    const bytes = await measureRun(options, run);
    if (bytes === undefined) return fail([{ runId: run.runId, reason: describeAbsence(run) }]);
    sizes.set(run.runId, bytes);
  }
  const refused = await mark(options, { records, cached, remove: chosen.value });
  if (refused.length > 0) {
    for (const run of chosen.value) await unmarkRun(options, run);
    return fail(refused);
  }
  // A schedule records a run before the run exists, so that those of all runs that may be removed are there.
  const scheduled = await listScheduledRuns(disk, home);
  const freed: DeletedRuns['freed'][number][] = [];
  const problems: string[] = [];
  // A server keeps a run that another one reuses, which is always a later one.
  for (const run of chosen.value.toReversed()) {
    const { runId, pipeline } = run;
    const isKept = await options.removeElsewhere?.(runId);
    if (isKept !== undefined) await unmarkRun(options, run);
    const problem = isKept ?? (await removeRun(options, run, scheduled));
    if (problem === undefined) freed.push({ kind: 'run', runId, pipeline, bytes: sizes.get(runId) ?? 0 });
    else problems.push(problem);
  }
  return ok({ freed, problems });
}

async function choose(options: Filled, records: readonly RunRecord[], cached: ReadonlySet<string>): Promise<Chosen> {
  const only = new Set(options.runIds);
  const describeUseElsewhere = await readUse(options);
  const rules = { endedBefore: Number.POSITIVE_INFINITY, only, cached, describeUseElsewhere };
  const { remove, keep } = chooseGarbage(records, rules);
  const known = new Set(records.map(({ runId }) => runId));
  const refused = [
    ...[...only].filter((runId) => !known.has(runId)).map((runId) => ({ runId, reason: 'its home does not have it' })),
    ...keep.filter(({ run }) => only.has(run.runId)).map(({ run, reason }) => ({ runId: run.runId, reason })),
  ];
  return refused.length > 0 ? fail(refused) : ok(remove);
}

/** Of all runs on servers, also of those that ended long ago. */
async function readUse({ readElsewhere }: Filled): Promise<(run: RunRecord) => string | undefined> {
  const found = (await readElsewhere?.()) ?? { runs: [], unknown: [] };
  return findUseElsewhere(found, Number.NEGATIVE_INFINITY).describe;
}

/** Marks the runs, so that no other run uses them from now on. Returns those that one has begun to use since they were chosen. */
async function mark(
  options: Filled,
  given: {
    readonly records: readonly RunRecord[];
    readonly cached: ReadonlySet<string>;
    readonly remove: readonly RunRecord[];
  },
): Promise<readonly UndeletableRun[]> {
  const { records, cached, remove } = given;
  const held = await markRuns(options, remove);
  const since = await lookAgain(options, records);
  // A rerun may have started on a server since the first question, and cannot see the marks of this home.
  const describeUseElsewhere = await readUse(options);
  return remove.flatMap((run) => {
    const { runId } = run;
    const user = findUser(since, runId, { isCached: cached.has(runId) });
    const reason = held.get(runId) ?? user ?? describeUseElsewhere(run);
    return reason === undefined ? [] : [{ runId, reason }];
  });
}
