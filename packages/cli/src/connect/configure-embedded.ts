import { readJobEnvironment } from '@sluice/host-system';
import { type EmbeddedSlurm, embeddedConfig, embeddedSlurmConfig, embeddedSlurmJobConfig } from '@sluice/service';
import type { EmbeddedEngine } from './embedded-engine.ts';

/**
 * The configuration of the embedded service in `root` with this engine. Throws an error for the user if the engine cannot
 * work here with its options.
 */
export async function configureEmbedded(
  root: string,
  { engine: { name, options }, cpu }: { readonly engine: EmbeddedEngine; readonly cpu?: number | undefined },
): Promise<EmbeddedSlurm> {
  if (name === 'slurm') return embeddedSlurmConfig({ root, options });
  const job = readJobEnvironment(process.env);
  if (name === 'slurm-job') {
    const { job: ofCommand, ...own } = options;
    return embeddedSlurmJobConfig({ root, job, options: job?.jobId === ofCommand ? own : options });
  }
  return { config: embeddedConfig({ root, ...(cpu !== undefined && { cpu }), job: job?.here }), warnings: [] };
}
