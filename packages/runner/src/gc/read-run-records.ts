import type { Scope } from '@sluice/client';
import { hasPrivateCopy } from '../data/create-mounts.ts';
import type { Disk } from '../journal/disk.ts';
import { listSourceKeys } from '../record/list-source-keys.ts';
import { scopeOn, workspaceOn } from '../record/place-of.ts';
import type { RunFacts } from '../record/run-facts.ts';
import { listStartingRuns, type StartingRun } from '../record/starting-run.ts';
import { listRuns, type RunSummary } from '../report/list-runs.ts';
import { replayFromHome } from '../report/read-run.ts';

/** A run of the home, with what it needs of others and where its data lies. */
export interface RunRecord extends RunSummary {
  /** Undefined: its journal cannot be read, so nobody knows. */
  readonly needs: RunNeeds | undefined;
  /** The first of its outputs that the pipeline says are to be kept, as `step.output`. */
  readonly retained?: string;
  /** Its steps write to private copies, some of which may be left. */
  readonly hasPrivateCopies?: boolean;
  /** Where its outputs lie: one volume for each cluster that it could go to. */
  readonly workspaces: readonly (Scope & { readonly volumeID: string })[];
}

export interface RunNeeds {
  /** Runs whose outputs it reuses. */
  readonly runs: ReadonlySet<string>;
  /** Digests of the uploaded sources that it mounts, each after its volume's ID and a slash. */
  readonly sources: ReadonlySet<string>;
}

/** Reads every run of the home whole that is wanted; oldest end first. */
export async function readRunRecords(
  disk: Disk,
  home: string,
  isWanted: (runId: string) => boolean = () => true,
): Promise<RunRecord[]> {
  // Before the runs themselves: one that begins meanwhile is then found as one or the other.
  const starting = await listStartingRuns({ disk, home });
  const records: RunRecord[] = [];
  for (const run of await listRuns(home, disk)) {
    if (isWanted(run.runId)) records.push(await readRecord(disk, home, run));
  }
  const known = new Set(records.map(({ runId }) => runId));
  for (const run of starting) if (isWanted(run.runId) && !known.has(run.runId)) records.push(describeStarting(run));
  return records.sort((a, b) => (a.endedAt ?? a.startedAt) - (b.endedAt ?? b.startedAt));
}

/** A run without a journal: it counts as one under way. */
function describeStarting({ runId, pipeline, startedAt, reuses, sources }: StartingRun): RunRecord {
  const needs = sources && { runs: new Set(reuses === undefined ? [] : [reuses]), sources: new Set(sources) };
  return { runId, pipeline, startedAt, status: 'active', needs, workspaces: [] };
}

async function readRecord(disk: Disk, home: string, run: RunSummary): Promise<RunRecord> {
  const replayed = await replayFromHome(disk, home, run.runId).catch(() => undefined);
  if (!replayed?.ok) return { ...run, needs: undefined, workspaces: [] };
  const { facts } = replayed.value;
  const runs = new Set(
    facts.known.flatMap((cells) => cells.flatMap(({ cached }) => (cached === undefined ? [] : [cached.runId]))),
  );
  // What it may still take over.
  if (!facts.finished && facts.header!.reuse) runs.add(facts.header!.reuse.runId);
  const sources = new Set(listSourceKeys(facts.volumes));
  const { clusterID, placement } = facts.header!;
  const workspaces = [...new Set([clusterID, ...Object.keys(placement?.accounts ?? {})])].flatMap((cluster) => {
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
