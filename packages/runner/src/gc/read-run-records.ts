import type { Scope } from '@sluice/client';
import {
  type Disk,
  isCollecting,
  listRunIds,
  listStartingRuns,
  placeOf,
  readCustody,
  readRunSummary,
  replayFromHome,
  runDirectory,
  type StartingRun,
} from '@sluice/home';
import { clustersOf, listSourceKeys, type RunFacts, type RunSummary, scopeOn, workspaceOn } from '@sluice/run';
import { hasPrivateCopy } from '../data/create-mounts.ts';

/** A run of the home, with the data of others that it needs and the location of its own data. */
export interface RunRecord extends RunSummary {
  /** Undefined: unknown, since its journal cannot be read. */
  readonly needs: RunNeeds | undefined;
  /** The first of its outputs with `retain: true`, as `step.output`. */
  readonly retained?: string;
  /** Its steps write to private copies of their inputs, some of which may remain. */
  readonly hasPrivateCopies?: boolean;
  /** A server executes it, or has executed it. */
  readonly isElsewhere?: boolean;
  /** Its removal has begun. */
  readonly isCollecting?: boolean;
  /** The workspaces with its outputs: one for each cluster on which its steps may run. */
  readonly workspaces: readonly (Scope & { readonly volumeID: string })[];
}

/** The data outside a run that the run needs. */
export interface RunNeeds {
  /** Runs whose outputs it reuses. */
  readonly runs: ReadonlySet<string>;
  /** The uploaded sources that it mounts, each as `<volume>/<digest>`. */
  readonly sources: ReadonlySet<string>;
}

/** Replays the wanted runs of the home. Ordered by their end, or by their start if they have not ended; oldest first. */
export async function readRunRecords(
  disk: Disk,
  home: string,
  isWanted: (runId: string) => boolean = () => true,
): Promise<RunRecord[]> {
  // Before the runs themselves: a run that gets its journal meanwhile is found at least once.
  const starting = await listStartingRuns({ disk, home });
  const records: RunRecord[] = [];
  for (const runId of await listRunIds(disk, home)) {
    const run = isWanted(runId) ? await readRunSummary(home, runId, disk) : undefined;
    if (run !== undefined) records.push(await readRecord(disk, home, run));
  }
  const known = new Set(records.map(({ runId }) => runId));
  for (const run of starting) if (isWanted(run.runId) && !known.has(run.runId)) records.push(describeStarting(run));
  return records.sort((a, b) => (a.endedAt ?? a.createdAt) - (b.endedAt ?? b.createdAt));
}

/** A run without a journal counts as in progress. */
function describeStarting({ runId, pipeline, createdAt, reuses, sources }: StartingRun): RunRecord {
  const needs = sources && { runs: new Set(reuses === undefined ? [] : [reuses]), sources: new Set(sources) };
  return { runId, pipeline, createdAt, status: 'running', needs, workspaces: [] };
}

async function readRecord(disk: Disk, home: string, run: RunSummary): Promise<RunRecord> {
  const custody = await readCustody({ disk, directory: runDirectory(home, run.runId) }).catch(() => undefined);
  const mark = custody !== undefined && isCollecting(custody) ? { isCollecting: true } : {};
  const replayed = await replayFromHome(disk, home, run.runId).catch(() => undefined);
  if (!replayed?.ok) return { ...run, ...mark, needs: undefined, workspaces: [] };
  // Perhaps also one whose custody is damaged.
  const isElsewhere = custody === undefined || placeOf(custody) !== undefined;
  return { ...describeRecord(run, replayed.value.facts), ...mark, ...(isElsewhere && { isElsewhere }) };
}

/** What a run needs and has, according to its journal. */
export function describeRecord(run: RunSummary, facts: RunFacts): RunRecord {
  const runs = new Set(
    facts.known.flatMap((cells) => cells.flatMap(({ cached }) => (cached === undefined ? [] : [cached.runId]))),
  );
  // It may still reuse outputs of that run.
  if (!facts.finished && facts.header!.reuse) runs.add(facts.header!.reuse.runId);
  const sources = new Set(listSourceKeys(facts.volumes));
  const workspaces = clustersOf(facts.header!).flatMap((cluster) => {
    const volumeID = workspaceOn(facts, cluster);
    return volumeID === '' ? [] : [{ ...scopeOn(facts, cluster), volumeID }];
  });
  const retained = findRetained(facts);
  const hasPrivateCopies = facts.plan.steps.some(({ step }) =>
    Object.values(step.inputs).some((input) => hasPrivateCopy(input, facts.plan.pipeline)),
  );
  return {
    ...run,
    needs: { runs, sources },
    workspaces,
    ...(retained !== undefined && { retained }),
    ...(hasPrivateCopies && { hasPrivateCopies }),
  };
}

function findRetained({ plan, known }: RunFacts): string | undefined {
  for (const { index, step } of plan.steps) {
    const [name] = Object.entries(step.outputs).find(([, output]) => output.retain) ?? [];
    if (name === undefined) continue;
    if (known[index]?.some((cell) => cell?.winner !== undefined || cell?.cached !== undefined))
      return `${step.name}.${name}`;
  }
  return undefined;
}
