import { backoffDelay, isServiceError } from '@sluice/client';
import { own } from '@sluice/core';
import { locateCells, type ReadInput, transferKey, workspaceOn } from '@sluice/run';
import { CALL_BACKOFF, pause, type RunSession } from '../session/run-session.ts';
import { warn } from '../session/warn.ts';
import { transferTree } from '../trees/transfer-tree.ts';
import { describeTreeChange } from '../trees/tree-state.ts';
import { openTreeStates } from '../trees/tree-states.ts';
import { countRejections } from './count-rejections.ts';
import type { WorkspaceFiles } from './prepare-volumes.ts';

/** One tree that must be copied to another cluster's workspace before a container can mount it there. */
interface Transfer {
  /** For messages: `fit.model`, or a volume's name. */
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly path: string;
}

/**
 * Creates a function that copies a step's inputs to the cluster on which its container will run: each tree once for each
 * cluster, however many cells wait for it. Completed transfers are journaled; one that a crash interrupted is continued.
 * It resolves to a message if an input cannot be copied.
 */
export function createTransfers(
  session: RunSession,
  workspace: WorkspaceFiles,
): (inputs: readonly ReadInput[], clusterID: string) => Promise<string | undefined> | undefined {
  const begun = new Map<string, Promise<string | undefined>>();
  return (inputs, clusterID) => {
    if (!session.facts.header!.placement) return undefined;
    const open = neededTransfers(session, inputs, clusterID).flatMap((transfer) => {
      const key = transferKey(transfer);
      if (session.facts.transferred.has(key)) return [];
      let done = begun.get(key);
      if (!done) {
        done = transferOnce(session, workspace, transfer);
        begun.set(key, done);
      }
      return [done];
    });
    return open.length === 0
      ? undefined
      : Promise.all(open).then((faults) => faults.find((fault) => fault !== undefined));
  };
}

function neededTransfers(session: RunSession, inputs: readonly ReadInput[], to: string): Transfer[] {
  const { facts, plan } = session;
  const home = facts.header!.clusterID;
  return inputs.flatMap(({ input: { from }, source }): Transfer[] => {
    if ('volume' in from) {
      const place = own(facts.volumes, from.volume);
      const isSource = own(plan.pipeline.volumes, from.volume)?.source !== undefined;
      return isSource && place && to !== home ? [{ name: from.volume, from: home, to, path: place.path }] : [];
    }
    const cells = locateCells(session, source!);
    return cells.flatMap(({ clusterID, path }) =>
      clusterID === to ? [] : [{ name: `${from.step}.${from.output}`, from: clusterID, to, path }],
    );
  });
}

/** Resolves to a message if the tree cannot be copied. */
async function transferOnce(
  session: RunSession,
  workspace: WorkspaceFiles,
  transfer: Transfer,
): Promise<string | undefined> {
  const { name, from, to, path } = transfer;
  const isLast = countRejections();
  const copied = new Set<string>();
  for (let tries = 1; ; tries++) {
    try {
      const fault = await findFault(session, workspace, transfer);
      if (fault !== undefined) return fault;
      await removeChanged(session, workspace, transfer);
      const done = await transferTree({ from: workspace(from), to: workspace(to), path, copied });
      // A container may have changed the tree while it was read.
      const late = await findFault(session, workspace, transfer);
      if (late !== undefined) {
        await workspace(to).remove(path);
        return late;
      }
      session.note({ kind: 'transferred', at: session.clock.now(), from, to, path, ...done });
      const total = { totalFiles: done.files, totalBytes: done.bytes, done: true };
      session.report({ type: 'transfer', at: session.clock.now(), direction: 'across', name, ...done, ...total });
      await session.durable();
      return undefined;
    } catch (error) {
      if (!isServiceError(error)) throw error;
      const message = `could not copy ${name} from cluster ${from} to ${to}: ${error.message}`;
      warn(session, message);
      if (isLast(error)) return message;
      await pause(session, error.retryAfterMs ?? backoffDelay(CALL_BACKOFF, tries));
    }
  }
}

/** A message if a container has changed the tree on the cluster where it was written; then it is not copied. */
async function findFault(
  session: RunSession,
  workspace: WorkspaceFiles,
  { name, from, to, path }: Transfer,
): Promise<string | undefined> {
  const { disk, home, runId, facts } = session;
  const states = openTreeStates({ disk, home, runId });
  const change = await states.findChange(workspace(from), { volumeID: workspaceOn(facts, from), path });
  if (!change) return undefined;
  const why = `a container on that cluster changed it: ${describeTreeChange(change)}`;
  return `could not copy ${name} from cluster ${from} to ${to}: ${why}; start a new run to recreate it`;
}

/** Removes a copy from an earlier run that a container has changed, so that it is copied again. */
async function removeChanged(session: RunSession, workspace: WorkspaceFiles, { to, path }: Transfer): Promise<void> {
  const { disk, home, runId, facts } = session;
  const states = openTreeStates({ disk, home, runId });
  const there = { volumeID: workspaceOn(facts, to), path };
  if (await states.findChange(workspace(to), there)) {
    await workspace(to).remove(path);
    await states.forget(there);
  }
}
