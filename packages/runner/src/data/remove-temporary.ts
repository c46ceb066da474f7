import { dirname } from 'node:path/posix';
import { backoffDelay, isServiceError, type VolumeFiles } from '@sluice/client';
import {
  clustersOf,
  createTemporaryOutputs,
  locateOutput,
  type MoveListener,
  removedPath,
  runPath,
  TERMINAL_CELL_STATES,
  type TemporaryOutput,
  transferKey,
} from '@sluice/run';
import { CALL_BACKOFF, pause, type RunSession } from '../session/run-session.ts';
import { warn } from '../session/warn.ts';
import { allowAbsent } from '../trees/list-tree.ts';
import type { WorkspaceFiles } from './prepare-volumes.ts';

/** Removes the temporary outputs of a run while it is executed. */
export interface TemporaryRemoval {
  /** Records what can be removed after this turn, and removes it when the record is durable. */
  onTurn(): void;
  /** Removes what an earlier process has recorded and perhaps not removed. To be called once, when the run is resumed. */
  repeat(): void;
  /** Resolves when nothing is being removed. */
  idle(): Promise<void>;
}

/** A removal that fails is tried again; after these, `sluice gc` removes the output with the run. */
const MAX_TRIES = 5;

/** Containers are started first. */
const LAST = -1;

/** Undefined: the pipeline has no temporary outputs. Listens to the scheduler's moves, besides the listener that is set. */
export function createTemporaryRemoval(
  session: RunSession,
  { workspace, moves }: { readonly workspace: WorkspaceFiles; readonly moves: MoveListener },
): TemporaryRemoval | undefined {
  const { plan, facts, scheduler } = session;
  const outputs = createTemporaryOutputs(session);
  if (outputs === undefined) return undefined;
  const open = new Set<Promise<void>>();
  let moved: (readonly [step: number, cell: number])[] = [];
  const { onMove } = moves;
  moves.onMove = (step, cell) => {
    onMove?.(step, cell);
    if (TERMINAL_CELL_STATES.has(scheduler.state(step, cell))) moved.push([step, cell]);
  };
  // What an earlier process has seen to end.
  for (const { index } of plan.steps) {
    for (let cell = 0; cell < (scheduler.cellCount(index) ?? 0); cell++) moved.push([index, cell]);
  }

  function track(work: Promise<void>): void {
    const tracked = work.catch(session.fail).finally(() => open.delete(tracked));
    open.add(tracked);
  }

  async function removeRecorded(recorded: readonly TemporaryOutput[]): Promise<void> {
    // The bytes are removed only if a later process will know why they are gone.
    await session.durable();
    await Promise.all(recorded.map((one) => removeOutput(session, workspace, one)));
  }

  return {
    onTurn() {
      const cells = moved;
      moved = [];
      for (const [step, cell] of cells) outputs.noteMove(step, cell);
      const removable = outputs.take();
      for (const one of removable) session.note({ kind: 'removed', at: session.clock.now(), ...one });
      if (removable.length > 0) track(removeRecorded(removable));
    },
    repeat() {
      if (facts.known.some((cells) => cells.some((cell) => cell?.removed !== undefined)))
        track(repeatRemovals(session, workspace));
    },
    async idle() {
      while (open.size > 0) await Promise.all(open);
    },
  };
}

/** The places of an output: where it was written, and the copies on other clusters. */
function placesOf(session: RunSession, one: TemporaryOutput): { readonly clusterID: string; readonly path: string }[] {
  const { facts } = session;
  const { clusterID, path } = locateOutput(session, one);
  const copies = clustersOf(facts.header!).filter((to) => facts.transferred.has(transferKey({ to, path })));
  return [clusterID, ...copies].map((cluster) => ({ clusterID: cluster, path }));
}

async function removeOutput(session: RunSession, workspace: WorkspaceFiles, one: TemporaryOutput): Promise<void> {
  for (const { clusterID, path } of placesOf(session, one)) {
    await tryRemoval(session, describeOutput(session, one), () => removeTree(session, workspace(clusterID), path));
  }
}

/** By one rename, so that a run that reuses the success finds all of the output or nothing. */
async function removeTree(session: RunSession, files: VolumeFiles, path: string): Promise<void> {
  const gone = `${removedPath(session)}/${path.slice(runPath(session.runId).length + 1)}`;
  const remove = async () => {
    try {
      await files.move(path, gone);
    } catch (error) {
      // It was moved before.
      if (!isServiceError(error, 'NOT_FOUND')) throw error;
    }
    await files.remove(gone);
  };
  await session.calls.add(remove, { priority: LAST });
}

/** A run has as many recorded removals as cells, so only those outputs are removed that the directories still have. */
async function repeatRemovals(session: RunSession, workspace: WorkspaceFiles): Promise<void> {
  const { facts, plan } = session;
  const hasEntry = createDirectoryLists(session, workspace);
  for (const { index } of plan.steps) {
    for (const [cell, known] of facts.known[index]!.entries()) {
      for (const output of known?.removed ?? []) {
        const one = { step: index, cell, output };
        for (const { clusterID, path } of placesOf(session, one)) {
          await tryRemoval(session, describeOutput(session, one), async () => {
            if (await hasEntry(clusterID, path)) await removeTree(session, workspace(clusterID), path);
          });
        }
      }
    }
  }
  for (const clusterID of clustersOf(facts.header!)) {
    await tryRemoval(session, 'what was removed', () => removeLeft(session, workspace(clusterID)));
  }
}

/** Removes what earlier processes have moved and perhaps not removed. This one moves outputs at the same time. */
async function removeLeft(session: RunSession, files: VolumeFiles): Promise<void> {
  const own = removedPath(session);
  const entries = await session.calls.add(() => allowAbsent(files).list(dirname(own)), { priority: LAST });
  for (const { path } of entries)
    if (path !== own) await session.calls.add(() => files.remove(path), { priority: LAST });
}

/** Lists each directory once. */
function createDirectoryLists({ calls }: RunSession, workspace: WorkspaceFiles) {
  const known = new Map<string, ReadonlySet<string>>();
  return async (clusterID: string, path: string): Promise<boolean> => {
    const key = `${clusterID}/${dirname(path)}`;
    let paths = known.get(key);
    if (paths === undefined) {
      const list = () => allowAbsent(workspace(clusterID)).list(dirname(path));
      const entries = await calls.add(list, { priority: LAST });
      paths = new Set(entries.map((entry) => entry.path));
      known.set(key, paths);
    }
    return paths.has(path);
  };
}

async function tryRemoval(session: RunSession, what: string, remove: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; !session.stopped; tries++) {
    try {
      await remove();
      return;
    } catch (error) {
      if (!isServiceError(error)) throw error;
      if (tries === MAX_TRIES) {
        warn(
          session,
          `could not remove ${what}, which is temporary: ${error.message}; sluice gc removes it with the run`,
        );
        return;
      }
      await pause(session, error.retryAfterMs ?? backoffDelay(CALL_BACKOFF, tries));
    }
  }
}

function describeOutput({ plan, facts }: RunSession, { step, cell, output }: TemporaryOutput): string {
  const { name } = plan.steps[step]!.step;
  const key = facts.cells[step]?.[cell]?.key ?? '';
  return `output ${output} of ${key === '' ? name : `${name}/${key}`}`;
}
