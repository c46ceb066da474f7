import path from 'node:path';
import { isServiceError } from '@sluice/client';
import { reportOutputs } from '../run/report-outputs.ts';
import type { RunSession } from '../run/run-session.ts';
import type { TransferProgress } from './count-transfer.ts';
import { downloadTree } from './download-tree.ts';
import type { WorkspaceFiles } from './prepare-volumes.ts';

/** What has become of the outputs that `publish` asks for, by output. */
export interface Delivery {
  /** Local directories with a whole copy. */
  readonly outputs: Readonly<Record<string, string>>;
  /** Why there is no copy; the output lies in its volume all the same. */
  readonly undelivered: Readonly<Record<string, string>>;
}

/** Copies the pipeline's outputs to their local directories, where `publish` asks for it. */
export async function deliverOutputs(session: RunSession, workspace: WorkspaceFiles): Promise<Delivery> {
  const { facts, plan } = session;
  const delivered: Record<string, string> = {};
  const undelivered: Record<string, string> = {};
  for (const [name, output] of Object.entries(reportOutputs(session))) {
    const publish = plan.pipeline.outputs[name]?.publish;
    if (publish === undefined) continue;
    const directory = path.resolve(facts.header!.baseDir, publish);
    try {
      await downloadTree(workspace(output.clusterID), {
        from: output.path,
        to: directory,
        onProgress: reportTo(session, name),
      });
      delivered[name] = directory;
    } catch (error) {
      if (!isServiceError(error) && (error as NodeJS.ErrnoException).code === undefined) throw error;
      undelivered[name] = `could not copy output ${name} to ${directory}: ${(error as Error).message}`;
      session.report({ type: 'warning', at: session.clock.now(), message: undelivered[name] });
    }
  }
  return { outputs: delivered, undelivered };
}

function reportTo(session: RunSession, name: string): (progress: TransferProgress) => void {
  return (progress) =>
    session.report({ type: 'transfer', at: session.clock.now(), direction: 'download', name, ...progress });
}
