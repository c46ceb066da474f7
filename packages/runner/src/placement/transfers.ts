import { isServiceError } from '@sluice/client';
import { publishedPath } from '../data/layout.ts';
import type { WorkspaceFiles } from '../data/prepare-volumes.ts';
import { pause, type RunSession } from '../run/run-session.ts';
import { stepIndex } from '../run/step-context.ts';
import { clusterOfOutputs } from './place-of.ts';
import { transferTree } from './transfer-tree.ts';

/** One tree that has to be in another cluster's workspace before a container can mount it there. */
interface Transfer {
  /** For people: `fit.model`, or a volume's name. */
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly path: string;
}

/**
 * Brings a step's inputs to the cluster where its container is to run: each tree once for each cluster,
 * whatever number of cells wait for it; journaled when it is whole, taken up where a crash left it.
 */
export function createTransfers(
  session: RunSession,
  workspace: WorkspaceFiles,
): (step: number, clusterID: string) => Promise<void> | undefined {
  const begun = new Map<string, Promise<void>>();
  return (step, clusterID) => {
    if (!session.facts.header!.placement) return undefined;
    const open = neededTransfers(session, step, clusterID).flatMap((transfer) => {
      const key = transferKey(transfer);
      if (session.facts.transferred.has(key)) return [];
      let done = begun.get(key);
      if (!done) {
        done = transferOnce(session, workspace, transfer);
        begun.set(key, done);
      }
      return [done];
    });
    return open.length === 0 ? undefined : Promise.all(open).then(() => {});
  };
}

/** What a transfer is known by in the journal. */
export function transferKey({ to, path }: { readonly to: string; readonly path: string }): string {
  return `${to}:${path}`;
}

function neededTransfers(session: RunSession, step: number, to: string): Transfer[] {
  const { facts, plan } = session;
  const home = facts.header!.clusterID;
  return Object.values(plan.steps[step]!.step.inputs).flatMap(({ from }): Transfer[] => {
    if ('volume' in from) {
      const place = facts.volumes[from.volume];
      const isSource = plan.pipeline.volumes[from.volume]?.source !== undefined;
      return isSource && place && to !== home ? [{ name: from.volume, from: home, to, path: place.path }] : [];
    }
    const producer = stepIndex(plan, from.step)!;
    const { matrix, foreach } = plan.steps[producer]!.step;
    const isPlain = matrix === undefined && foreach === undefined;
    return (facts.cells[producer] ?? []).flatMap(({ key }, cell) => {
      const cluster = clusterOfOutputs(facts, producer, cell);
      if (cluster === to) return [];
      const cached = facts.known[producer]?.[cell]?.cached;
      const path = publishedPath({
        runId: cached?.runId ?? session.runId,
        step: cached?.step ?? from.step,
        output: from.output,
        ...(!isPlain && { cell: cached?.cell ?? key }),
      });
      return [{ name: `${from.step}.${from.output}`, from: cluster, to, path }];
    });
  });
}

async function transferOnce(session: RunSession, workspace: WorkspaceFiles, transfer: Transfer): Promise<void> {
  const { name, from, to, path } = transfer;
  for (let pauseMs = 500; ; pauseMs = Math.min(30_000, pauseMs * 2)) {
    try {
      const done = await transferTree({ from: workspace(from), to: workspace(to), path });
      session.note({ kind: 'transferred', at: session.clock.now(), from, to, path, ...done });
      const total = { totalFiles: done.files, totalBytes: done.bytes, done: true };
      session.report({ type: 'transfer', at: session.clock.now(), direction: 'across', name, ...done, ...total });
      return await session.durable();
    } catch (error) {
      if (!isServiceError(error)) throw error;
      const message = `could not bring ${name} from cluster ${from} to ${to}: ${error.message}`;
      session.report({ type: 'warning', at: session.clock.now(), message });
      await pause(session, error.retryAfterMs ?? pauseMs);
    }
  }
}
