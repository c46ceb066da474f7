import { basename, dirname } from 'node:path/posix';
import { isServiceError } from '@sluice/client';
import { type CacheMiss, type CacheSource, clusterOfWorkspace, isFannedOut, publishedPath } from '@sluice/run';
import type { WorkspaceFiles } from '../data/prepare-volumes.ts';
import type { RunSession } from '../session/run-session.ts';
import { openTreeStates } from '../trees/tree-states.ts';
import { createPresence } from './presence.ts';

/** Returns why the outputs of an earlier success cannot be used; undefined if they exist unchanged. */
export type DataCheck = (step: number, source: CacheSource) => Promise<CacheMiss['reason'] | undefined>;

/** Creates the check of a run. If a volume does not answer, its data counts as gone. */
export function createDataCheck(session: RunSession, workspace: WorkspaceFiles): DataCheck {
  const { clock, facts, plan, disk, home } = session;
  const presence = createPresence(workspace, clock);
  const states = openTreeStates({ disk, home });
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

  return async (step, source) => {
    const clusterID = clusterOfWorkspace(facts, source.volumeID);
    if (clusterID === undefined) return 'dataGone';
    const isFanned = isFannedOut(session, step);
    try {
      for (const output of Object.keys(plan.steps[step]!.step.outputs)) {
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
  };
}
