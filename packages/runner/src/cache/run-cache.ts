import { isServiceError } from '@sluice/client';
import type { Fingerprint } from '@sluice/core';
import type { WorkspaceFiles } from '../data/prepare-volumes.ts';
import type { CacheMiss, CacheSource } from '../journal/journal-record.ts';
import { isMarkedForCollection } from '../record/collection-mark.ts';
import { publishedPath } from '../record/layout.ts';
import { findOrigin, isFannedOut } from '../record/locate-output.ts';
import { clusterOfWorkspace, scopeOn } from '../record/place-of.ts';
import { runDirectory } from '../record/run-home.ts';
import { describeSiblings } from '../record/siblings.ts';
import { replayFromHome } from '../report/read-run.ts';
import type { Command } from '../scheduler/model/command.ts';
import type { SchedulerEvent } from '../scheduler/model/event.ts';
import type { Posted } from '../session/posted.ts';
import type { RunSession } from '../session/run-session.ts';
import { openTreeStates } from '../trees/tree-states.ts';
import { addToCacheIndex, type CacheEntry, type CacheIndex, readCacheIndex } from './cache-index.ts';
import { digestCell } from './fingerprint-cell.ts';
import { createWorkLookUp, hasOutputs, isWithinReach } from './look-up-work.ts';
import { createPresence } from './presence.ts';
import { createReusableRun, type ReusableRun } from './reusable-run.ts';

/** A run's dealings with the home's cache. */
export interface RunCache {
  /** Reads what earlier runs have left; before the first look-up. */
  open(): Promise<void>;
  /**
   * Looks for an earlier success with the same fingerprint whose data is still there. Answers at once where no data has
   * to be looked at, so that a chain of reused steps is one turn; else posts the answer.
   */
  lookUp(command: Extract<Command, { type: 'lookUp' }>): Posted | undefined;
  /** Remembers what succeeded. */
  onEvent(event: SchedulerEvent): void;
  /** Resolves when everything is written. */
  idle(): Promise<void>;
}

export function createRunCache(session: RunSession, workspace: WorkspaceFiles): RunCache {
  const { clock, facts, plan, disk, home } = session;
  const presence = createPresence(workspace, clock);
  const { reuse } = facts.header ?? {};
  let earlier: ReusableRun | undefined;
  let index: CacheIndex = { find: () => undefined, latest: () => undefined };
  let lookUpWork = createWorkLookUp(session, { earlier, index, now: clock.wall });
  const states = openTreeStates({ disk, home });
  /** By run: whether containers that could write to its data were given some of it. */
  const given = new Map<string, Promise<boolean>>();
  let fresh: CacheEntry[] = [];
  let writing = Promise.resolve();

  function lookUp(step: number, cell: number): Posted | undefined {
    const looked = lookUpWork(step, cell);
    if (looked.kind === 'untold') return { event: { type: 'cacheMissed', at: clock.now(), step, cell } };
    return looked.kind === 'found' ? take(step, cell, looked) : miss(step, cell, looked);
  }

  /** Takes what is there over, once its data has turned out to be there. */
  function take(
    step: number,
    cell: number,
    { source, made }: { readonly source: CacheSource; readonly made: Fingerprint },
  ): Posted | undefined {
    if (Object.values(source.results).some((value) => session.redactor.findSecret(value) !== undefined)) {
      return miss(step, cell, { made, reason: 'secret' });
    }
    const hit: Posted = { event: { type: 'cacheHit', at: clock.now(), step, cell }, facts: { cached: source } };
    if (!hasOutputs(session, step)) return hit;
    void findFault(step, source)
      .then((reason) => (reason === undefined ? hit : miss(step, cell, { made, reason })))
      .then(({ event, facts: beside }) => session.post(event, beside))
      .catch(session.fail);
    return undefined;
  }

  function miss(
    step: number,
    cell: number,
    { made, reason }: { readonly made: Fingerprint; readonly reason: CacheMiss['reason'] },
  ): Posted {
    const name = { pipeline: plan.pipeline.name, step: plan.steps[step]!.step.name, cell: cellKey(step, cell) };
    const latest = earlier?.has(name.step, name.cell) ? earlier.runId : findLatest(step, name)?.runId;
    const { digest, components } = made;
    const missed = { fingerprint: digest, components, reason, ...(latest !== undefined && { latest }) };
    return { event: { type: 'cacheMissed', at: clock.now(), step, cell }, facts: { missed } };
  }

  /** A success that could have been taken: one in a volume out of reach explains nothing. */
  function findLatest(step: number, name: { pipeline: string; step: string; cell: string }): CacheEntry | undefined {
    return index.latest(name, ({ volumeID }) => isWithinReach(session, { step, volumeID }));
  }

  /** Why the outputs of a success cannot be used. A volume that does not answer cannot be trusted to have them. */
  async function findFault(step: number, entry: CacheSource): Promise<CacheMiss['reason'] | undefined> {
    const clusterID = clusterOfWorkspace(facts, entry.volumeID);
    if (clusterID === undefined) return 'dataGone';
    try {
      for (const output of Object.keys(plan.steps[step]!.step.outputs)) {
        const at = { clusterID, path: publishedPath({ runId: entry.runId, step: entry.step, output }) };
        const isThere = isFannedOut(session, step) ? presence.has(at, entry.cell) : presence.isThere(at);
        if (!(await isThere)) return 'dataGone';
        const path = isFannedOut(session, step) ? `${at.path}/${entry.cell}` : at.path;
        if (await isChanged(entry, { clusterID, path })) return 'dataChanged';
      }
      return undefined;
    } catch (error) {
      if (!isServiceError(error)) throw error;
      return 'dataGone';
    }
  }

  /** Whether a container that could write to the data has done so. No request where no such container ever had any of its run. */
  async function isChanged(
    { runId, volumeID }: CacheSource,
    { clusterID, path }: { readonly clusterID: string; readonly path: string },
  ): Promise<boolean> {
    const place = { volumeID, path };
    const wasGiven = given.get(runId) ?? states.hasAny(place);
    given.set(runId, wasGiven);
    if (!(await wasGiven)) return false;
    return (await session.calls.add(() => states.findChange(workspace(clusterID), place))) !== undefined;
  }

  function cellKey(step: number, cell: number): string {
    return facts.cells[step]?.[cell]?.key ?? '';
  }

  function remember(step: number, cell: number): void {
    const known = facts.known[step]?.[cell];
    if (!known?.missed) return;
    const { fingerprint } = known.missed;
    const digest = digestCell(session, step, cell);
    const { clusterID, volumeID } = findOrigin(session, step, cell);
    if (fresh.length === 0) clock.defer(write);
    fresh.push({
      fingerprint,
      ...(digest !== fingerprint && { digest }),
      pipeline: plan.pipeline.name,
      step: plan.steps[step]!.step.name,
      cell: cellKey(step, cell),
      runId: session.runId,
      volumeID,
      ...scopeOn(facts, clusterID),
      siblings: describeSiblings(facts.cells[step] ?? []),
      results: known.results,
      at: clock.wall(),
    });
  }

  function write(): void {
    const entries = fresh;
    fresh = [];
    writing = writing
      .then(() => addToCacheIndex(disk, home, entries))
      .catch((error: unknown) => {
        warn(`could not update the cache index: ${error instanceof Error ? error.message : String(error)}`);
      });
  }

  function warn(message: string): void {
    session.report({ type: 'warning', at: clock.now(), message });
  }

  return {
    async open() {
      if (plan.steps.some(({ step }) => step.cache)) index = await readCacheIndex(disk, home);
      if (reuse) {
        const replayed = await replayFromHome(disk, home, reuse.runId);
        // Asked after this run's own first record is durable, which says that it needs that run.
        const isMarked = await isMarkedForCollection(disk, runDirectory(home, reuse.runId));
        const why = isMarked ? 'it is being removed as garbage' : replayed.ok ? undefined : replayed.error.message;
        if (why !== undefined) warn(`could not reuse run ${reuse.runId}: ${why}; all steps are run`);
        else if (replayed.ok) earlier = createReusableRun(replayed.value);
      }
      lookUpWork = createWorkLookUp(session, { earlier, index, now: clock.wall });
    },
    lookUp: ({ step, cell }) => lookUp(step, cell),
    onEvent(event) {
      // A step that yields no data has succeeded with its container's end; nothing is published.
      if (event.type !== 'published' && event.type !== 'ended') return;
      const { step, cell } = event;
      if (plan.steps[step]!.step.cache && session.scheduler.state(step, cell) === 'succeeded') remember(step, cell);
    },
    async idle() {
      if (fresh.length > 0) write();
      await writing;
    },
  };
}
