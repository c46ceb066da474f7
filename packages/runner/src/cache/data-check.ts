import { basename, dirname } from 'node:path/posix';
import { isServiceError } from '@sluice/client';
import type { Plan } from '@sluice/core';
import { readSummary, runDirectory } from '@sluice/home';
import { type CacheMiss, type CacheSource, clusterOfWorkspace, isFannedOut, publishedPath } from '@sluice/run';
import type { WorkspaceFiles } from '../data/prepare-volumes.ts';
import type { RunSession } from '../session/run-session.ts';
import { openTreeStates } from '../trees/tree-states.ts';
import { createPresence } from './presence.ts';

/** Examines the outputs of earlier successes. If a volume does not answer, its data counts as gone. */
export interface DataCheck {
  /**
   * Returns why the outputs cannot be used; undefined if they exist unchanged. Temporary outputs are not examined: they
   * count as present while nothing mounts them.
   */
  findFault(step: number, source: CacheSource): Promise<CacheMiss['reason'] | undefined>;
  /**
   * Whether a container can mount a temporary output. That of a run that has not ended cannot be mounted, since the run may
   * remove it at any time.
   */
  hasTemporary(step: number, source: CacheSource, output: string): Promise<boolean>;
}

/** Creates the check of a run. */
export function createDataCheck(session: RunSession, workspace: WorkspaceFiles): DataCheck {
  const { clock, facts, plan, disk, home } = session;
  const presence = createPresence(workspace, clock);
  const states = openTreeStates({ disk, home });
  const hasEnded = createEndTest(session);
  /** By run: whether any of its data was mounted by containers that could write to it. */
  const writable = new Map<string, Promise<boolean>>();

  /** Whether a container has changed the data. Sends no request if no container could write to any data of the run. */
  async function isChanged(
    { runId, volumeID }: CacheSource,
    { clusterID, path }: { readonly clusterID: string; readonly path: string },
  ): Promise<boolean> {
    const place = { volumeID, path };
    const isWritable = writable.get(runId) ?? states.hasAny(place);
    writable.set(runId, isWritable);
    if (!(await isWritable)) return false;
    return (await session.calls.add(() => states.findChange(workspace(clusterID), place))) !== undefined;
  }

  async function findFault(
    step: number,
    source: CacheSource,
    outputs: readonly string[],
  ): Promise<CacheMiss['reason'] | undefined> {
    const clusterID = clusterOfWorkspace(facts, source.volumeID);
    if (clusterID === undefined) return 'dataGone';
    const isFanned = isFannedOut(session, step);
    try {
      for (const output of outputs) {
        const { runId, step: name, cell, path: place = cell } = source;
        const path = publishedPath({ runId, step: name, output, cell: place });
        const isThere = isFanned
          ? presence.has({ clusterID, path: dirname(path) }, basename(path))
          : presence.isThere({ clusterID, path });
        if (!(await isThere)) return 'dataGone';
        if (await isChanged(source, { clusterID, path })) return 'dataChanged';
      }
      return undefined;
    } catch (error) {
      if (!isServiceError(error)) throw error;
      return 'dataGone';
    }
  }

  return {
    findFault: (step, source) => findFault(step, source, otherOutputs(plan, step)),
    async hasTemporary(step, source, output) {
      return (await hasEnded(source.runId)) && (await findFault(step, source, [output])) === undefined;
    },
  };
}

/** The outputs of a step that are not temporary. */
export function otherOutputs({ steps }: Plan, step: number): readonly string[] {
  return Object.entries(steps[step]!.step.outputs).flatMap(([output, { temporary }]) => (temporary ? [] : [output]));
}

/** Whether a run has ended. Reads one small file for each. */
function createEndTest({ disk, home }: Pick<RunSession, 'disk' | 'home'>): (runId: string) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>();
  return (runId) => {
    const read = async () => (await readSummary(disk, runDirectory(home, runId)))?.status !== undefined;
    const hasEnded = known.get(runId) ?? read();
    known.set(runId, hasEnded);
    return hasEnded;
  };
}
