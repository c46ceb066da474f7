import { type JobEnvironment, memoryOf } from '@sluice/host-system';
import { EngineError } from '../engines/engine.ts';
import { parseOptions } from '../engines/parse-options.ts';
import { readLimit } from '../engines/slurm/own-job.ts';
import { createSlurmCommands, type SlurmCommands } from '../engines/slurm/slurm-commands.ts';
import { type DerivedInstanceType, deriveInstanceTypes } from '../engines/slurm/slurm-instance-types.ts';
import { type SlurmJobConfig, slurmJobOptionsSchema } from '../engines/slurm/slurm-job-config.ts';
import { parseGpus } from '../engines/slurm/slurm-models.ts';
import { checkStorage, type EmbeddedSlurm } from './embedded-slurm-config.ts';
import { type ServiceConfig, serviceConfigSchema } from './service-config.ts';

/** The only cluster and account of an embedded service on the nodes of a job. */
const SCOPE = { clusterID: 'slurm-job', accountID: 'local' } as const;
/** A configuration needs one. Without a job, nothing is started. */
const ANY_TYPE = { id: 'none', cpu: 1, memory: '1GB' } as const;
const LOCAL_INSTEAD = 'run on this node only with --engine local';

/** A node of the job. */
type JobNode = SlurmJobConfig['nodes'][number] & { readonly host: string };

/**
 * The configuration of a service that runs containers on the nodes of the job of Slurm in which it runs: cluster `slurm-job`,
 * account `local`, and instance types derived from what the job has of its nodes. Without a job, it has no nodes: what runs
 * have left can be read. Throws an error for the user if Slurm does not answer, if the job has ended, or if a node cannot see
 * `root`, which need not exist yet. `options` are those of the profile, unchecked.
 */
export async function embeddedSlurmJobConfig({
  root,
  job,
  options,
}: {
  readonly root: string;
  readonly job: JobEnvironment | undefined;
  readonly options: Readonly<Record<string, unknown>>;
}): Promise<EmbeddedSlurm> {
  const { runtime } = parseOptions(options, {
    ...{ schema: slurmJobOptionsSchema, engine: SCOPE.clusterID, where: 'in a job' },
  });
  if (job === undefined)
    return {
      config: configOf(root, { job: { id: '0', nodes: [], runtime }, instanceTypes: [ANY_TYPE] }),
      warnings: [],
    };
  const nodes = await readNodes(createSlurmCommands(undefined), job);
  const limit = await readLimit(job.jobId).catch((error: Error) => {
    throw reject(job, `${error.message}; ${LOCAL_INSTEAD}`);
  });
  const warnings = await checkStorage(root, nodes);
  const instanceTypes = deriveInstanceTypes(
    nodes.map((node) => ({ ...node, gpus: node.gpus === 0 ? [] : [{ type: '', count: node.gpus }] })),
  );
  if (instanceTypes.length === 0)
    throw reject(
      job,
      'its nodes have less than 1 GB of memory for it: submit it with more, for example sbatch --mem=8G',
    );
  const ofJob = { id: job.jobId, nodes: nodes.map(({ host: _, ...node }) => node), runtime, ...limit };
  return { config: configOf(root, { job: ofJob, instanceTypes }), warnings };
}

function configOf(
  root: string,
  { job, instanceTypes }: { readonly job: SlurmJobConfig; readonly instanceTypes: readonly DerivedInstanceType[] },
): ServiceConfig {
  const { clusterID, accountID } = SCOPE;
  return serviceConfigSchema.parse({
    root,
    clusters: [{ id: clusterID, engine: 'slurm-job', options: job, accounts: [accountID], instanceTypes }],
  });
}

async function readNodes(slurm: SlurmCommands, job: JobEnvironment): Promise<JobNode[]> {
  if (job.nodeList === undefined) throw reject(job, `the environment has no list of its nodes; ${LOCAL_INSTEAD}`);
  const ask = async (program: 'scontrol' | 'sinfo' | 'srun', args: readonly string[]) =>
    await slurm.run(program, args).catch((error: Error) => {
      // The message names the program and what to install.
      throw reject(
        job,
        `${error instanceof EngineError ? '' : 'Slurm does not answer: '}${error.message}; or ${LOCAL_INSTEAD}`,
      );
    });
  // Without it, each start of an agent would fail.
  await ask('srun', ['--version']);
  const names = (await ask('scontrol', ['show', 'hostnames', job.nodeList])).trim().split('\n');
  const format = '--format=%N|%n|%c|%m';
  const lines = (await ask('sinfo', ['--all', '--Node', '--noheader', `--nodes=${job.nodeList}`, format])).split('\n');
  const gpus = await countGpus(async (args) => await ask('scontrol', args), job.jobId);
  const sizes = new Map(lines.map((line) => [line.split('|')[0], line.split('|').slice(1)] as const));
  return names.map((name, i) => {
    const [host = name, cores, memory] = sizes.get(name) ?? [];
    const ofNode = { cores: Number(cores) || 1, memoryMB: Number.parseInt(memory ?? '', 10) || 1 };
    const own = Math.min(job.coresPerNode[i] ?? ofNode.cores, ofNode.cores);
    const memoryMB = Math.min(memoryOf(job.memoryMB, own) ?? Infinity, ofNode.memoryMB);
    return { name, host, cores: own, memoryMB, gpus: gpus.get(name) ?? 0 };
  });
}

/** How many GPUs the job has, of whatever type, by the names of its nodes. */
async function countGpus(
  scontrol: (args: readonly string[]) => Promise<string>,
  jobId: string,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const shown = await scontrol(['--oneliner', '--details', 'show', 'job', jobId]);
  for (const [, list = '', resources = ''] of shown.matchAll(/ Nodes=(\S+) CPU_IDs=\S* Mem=\S* GRES=(\S+)/g)) {
    const count = parseGpus(resources).reduce((sum, one) => sum + one.count, 0);
    if (count === 0) continue;
    for (const name of (await scontrol(['show', 'hostnames', list])).trim().split('\n')) counts.set(name, count);
  }
  return counts;
}

function reject({ jobId }: JobEnvironment, why: string): Error {
  return new Error(`could not use the nodes of Slurm job ${jobId}: ${why}`);
}
