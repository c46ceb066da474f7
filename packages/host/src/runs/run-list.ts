import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isRunId, readRunSummary, runDirectory } from '@sluice/home';
import { type Executor, newestFirst, type RunSummary, type runEntry } from '@sluice/run';
import type { z } from 'zod';
import { readExecutors } from '../control/read-executors.ts';
import { ApiError } from '../errors/api-error.ts';
import { describeHead } from './describe-states.ts';
import type { Followers } from './open-followers.ts';
import { optional, toTime } from './to-time.ts';

/** An entry in the list of runs. */
export type Entry = z.input<typeof runEntry>;

/** Runs that were removed are noticed after this time at the latest. */
const KEPT_MS = 60_000;

/** What the journal of a run says, or why it cannot be read. */
interface Counted {
  readonly version: string;
  readonly counts?: Entry['counts'];
  readonly problem?: string;
}

const UNREADABLE = 'could not read the journal of the run';

/** The runs of a home. Each finished run is read once for many lists. */
export interface RunList {
  /** Newest first. */
  read(): Promise<readonly RunSummary[]>;
  /** With the counts of runs that have not ended. */
  describe(runs: readonly RunSummary[]): Promise<Entry[]>;
}

/** Reads nothing until the first list. `hostKind` as for `readExecutors`. */
export function openRunList(home: string, followers: Followers, hostKind?: Executor): RunList {
  const finished = new Map<string, { readonly run: RunSummary; readonly readAt: number }>();
  /** What the journals of unfinished runs say, valid while the journal is the same file with the same length. */
  const counted = new Map<string, Counted>();

  async function readOne(runId: string): Promise<RunSummary | undefined> {
    const known = finished.get(runId);
    if (known !== undefined && performance.now() - known.readAt < KEPT_MS) return known.run;
    const run = await readRunSummary(home, runId);
    if (run?.endedAt === undefined) finished.delete(runId);
    else finished.set(runId, { run, readAt: performance.now() });
    return run;
  }

  async function count(runId: string): Promise<Counted> {
    const file = await stat(join(runDirectory(home, runId), 'journal.ndjson')).catch(() => undefined);
    const version = `${file?.ino} ${file?.size} ${file?.mtimeMs}`;
    const known = counted.get(runId);
    if (known?.version === version) return known;
    const found = await followers.read(runId).then(
      (run) => ({ version, counts: describeHead(run).counts }),
      (error: Error) => ({ version, problem: error instanceof ApiError ? error.message : UNREADABLE }),
    );
    counted.set(runId, found);
    return found;
  }

  async function describe(run: RunSummary, executor: Executor): Promise<Entry> {
    const { runId, pipeline, labels, status, createdAt, startedAt, endedAt, problem, counts: stored } = run;
    const entry = {
      ...{ runId, pipeline, createdAt: toTime(createdAt), status, executor },
      ...(startedAt !== undefined && { startedAt: toTime(startedAt) }),
      ...(labels && { labels: { ...labels } }),
      ...(endedAt !== undefined && { endedAt: toTime(endedAt) }),
      ...(stored && { counts: { ...stored } }),
      ...optional('problem', problem),
    };
    if (endedAt !== undefined) counted.delete(runId);
    if (endedAt !== undefined || problem !== undefined) return entry;
    const { counts, problem: unreadable } = await count(runId);
    if (counts === undefined) return { ...entry, ...optional('problem', unreadable) };
    return { ...entry, counts, ...(counts.awaitingApproval && { waitsForApproval: true as const }) };
  }

  return {
    async read() {
      const names = await readdir(join(home, 'runs')).catch(() => []);
      const runs = await Promise.all(names.filter(isRunId).map(readOne));
      return runs.filter((run) => run !== undefined).sort(newestFirst);
    },
    async describe(runs) {
      const executors = await readExecutors(home, runs, { hostKind });
      const entries: Entry[] = [];
      for (const [index, run] of runs.entries()) entries.push(await describe(run, executors[index]!));
      return entries;
    },
  };
}
