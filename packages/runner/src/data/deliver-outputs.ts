import path from 'node:path';
import { isServiceError, type VolumeFiles } from '@sluice/client';
import { createReport } from '../run/create-report.ts';
import type { RunReport } from '../run/run-report.ts';
import type { RunSession } from '../run/run-session.ts';
import { type DownloadProgress, downloadTree } from './download-tree.ts';

/**
 * Copies the pipeline's outputs to their local directories, where `publish` asks for it. Returns those directories by
 * output. An output that cannot be copied is warned of: it lies in its volume all the same.
 */
export async function deliverOutputs(
  session: RunSession,
  workspace: () => VolumeFiles,
): Promise<Record<string, string>> {
  const { facts, plan } = session;
  const delivered: Record<string, string> = {};
  const { outputs }: RunReport = createReport(session, 'active');
  for (const [name, output] of Object.entries(outputs)) {
    const publish = plan.pipeline.outputs[name]?.publish;
    if (publish === undefined) continue;
    const directory = path.resolve(facts.header!.baseDir, publish);
    try {
      await downloadTree(workspace(), { from: output.path, to: directory, onProgress: reportTo(session, name) });
      delivered[name] = directory;
    } catch (error) {
      if (!isServiceError(error) && (error as NodeJS.ErrnoException).code === undefined) throw error;
      const message = `could not copy output ${name} to ${directory}: ${(error as Error).message}`;
      session.report({ type: 'warning', at: session.clock.now(), message });
    }
  }
  return delivered;
}

function reportTo(session: RunSession, name: string): (progress: DownloadProgress) => void {
  return (progress) =>
    session.report({ type: 'transfer', at: session.clock.now(), direction: 'download', name, ...progress });
}
