import { type ContainerService, isServiceError, type Scope } from '@sluice/client';
import type { Plan } from '@sluice/core';
import {
  askPhase,
  type Clock,
  type Disk,
  type GroupEntry,
  hasSummary,
  readJournal,
  readPlan,
  readSummary,
  runDirectory,
  wasOpened,
} from '@sluice/home';
import { clusterOfAttempt, clustersOf, type ReplayedRun, replayFiles, scopeOn } from '@sluice/run';
import { askContainer, type ContainerPlace } from '../watch/ask-container.ts';
import { findRunContainers } from '../watch/find-run-containers.ts';
import { judgeTerminalPhase } from '../watch/judge-terminal-phase.ts';

/**
 * Whether a run still keeps its place in a concurrency group. `executing`: a living runner executes it. `left`: no process
 * executes it, and a container of it runs or may run. `idle`: no process executes it and none of its containers runs;
 * it can be resumed.
 */
export type Membership = 'executing' | 'left' | 'idle' | 'ended';

/** Where to find the evidence about the runs of a group. */
export interface MemberSource {
  readonly disk: Disk;
  readonly home: string;
  readonly service: ContainerService;
  readonly clock: Clock;
  /** Where the containers of a run are searched if its journal is lost. */
  readonly scope: Scope;
}

/** Judges a run by its runner, its journal, then the service, as pools do. In doubt, it keeps its place. */
export async function judgeMember(
  source: MemberSource,
  entry: Pick<GroupEntry, 'runId' | 'isOpening'>,
): Promise<Membership> {
  const { disk, home } = source;
  const { runId } = entry;
  const directory = runDirectory(home, runId);
  if ((await askPhase(disk, directory)) !== 'suspended') return 'executing';
  if ((await readSummary(disk, directory))?.status !== undefined) return 'ended';
  const read = await readPlan(disk, directory);
  const journal = await readJournal(disk, directory);
  if (!read.ok || !journal.ok) return 'left';
  const plan = read.value;
  const { records } = journal.value;
  if (records.some(({ kind }) => kind === 'finished')) return 'ended';
  // It never began, or its journal is lost; an adopted run does not know what was in flight.
  const isKnown = plan !== undefined && records.some(({ kind }) => kind === 'run');
  const run = isKnown ? replayFiles({ runId, directory, plan, records }) : undefined;
  if (!run?.ok) {
    const isAlive = await hasLiveContainer(source, { runId, plan }, [source.scope]);
    if (isAlive !== 'unknown') return isAlive ? 'left' : 'ended';
    return !isKnown && (await neverBegan(disk, directory, entry)) ? 'ended' : 'left';
  }
  const { facts } = run.value;
  if (facts.adopted !== undefined) {
    const scopes = clustersOf(facts.header!).map((cluster) => scopeOn(facts, cluster));
    if ((await hasLiveContainer(source, { runId, plan }, scopes)) !== false) return 'left';
  }
  const seen = await Promise.all(openContainers(run.value).map((place) => askContainer(source.service, place)));
  return seen.every((one) => one === 'ended') ? 'idle' : 'left';
}

/** The containers that the run has requested and whose end it does not know. */
function openContainers({ runId, facts, scheduler }: ReplayedRun): ContainerPlace[] {
  return scheduler.live().flatMap((at) => {
    const known = facts.known[at.step]?.[at.cell]?.attempts.find(({ attempt }) => attempt === at.attempt);
    if (known?.id === undefined || known.declined === true) return [];
    const stepName = facts.plan.steps[at.step]!.step.name;
    const cellKey = facts.cells[at.step]?.[at.cell]?.key ?? '';
    const { clusterID, accountID } = scopeOn(facts, clusterOfAttempt(facts, at));
    return [{ runId, stepName, cellKey, attempt: at.attempt, clusterID, accountID, containerID: known.id }];
  });
}

/**
 * Whether a run without a first record died before it created a container: its summary is stored before that, also by a
 * resume and by an adoption (decision 0029). A run that has opened its journal and has no lease has lost its directory.
 */
async function neverBegan(
  disk: Disk,
  directory: string,
  { isOpening }: Pick<GroupEntry, 'isOpening'>,
): Promise<boolean> {
  return (isOpening === true || wasOpened(disk, directory)) && !(await hasSummary(disk, directory));
}

async function hasLiveContainer(
  { service, clock }: MemberSource,
  run: { readonly runId: string; readonly plan: Plan | undefined },
  scopes: readonly Scope[],
): Promise<boolean | 'unknown'> {
  try {
    const found = await Promise.all(scopes.map((scope) => findRunContainers(service, { ...run, scope, clock })));
    return found.flat().some(({ container }) => !judgeTerminalPhase(container));
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return 'unknown';
  }
}
