/** What the environment says about the job of Slurm in which this process runs. */
export interface JobEnvironment {
  /** Digits only. */
  readonly jobId: string;
  /** How often Slurm has put it into the queue again. */
  readonly restarts: number;
  /** How many it has. */
  readonly nodes: number;
  /** Their names as Slurm abbreviates them (`n[1-3]`); undefined if the environment has no valid list. */
  readonly nodeList: string | undefined;
  /** The job's cores on each node, in the order of the list; empty if they are unknown. */
  readonly coresPerNode: readonly number[];
  /** This process is on one of them. In a shell of `salloc`, it can be on a login node. */
  readonly isOnNode: boolean;
  /** What this process may use on its node; undefined if it is unknown or all of the node. */
  readonly here: { readonly cores?: number; readonly memoryMB?: number };
  /** The job's memory per node or per core; undefined if it is not limited. */
  readonly memoryMB: { readonly perNode: number } | { readonly perCore: number } | undefined;
}

const MOST_NODES = 100_000;

/** Undefined outside of a job. A value that is not as Slurm writes it counts as missing: anyone can set a variable. */
export function readJobEnvironment(env: Readonly<Record<string, string | undefined>>): JobEnvironment | undefined {
  const jobId = env.SLURM_JOB_ID;
  if (jobId === undefined || !/^[1-9]\d{0,9}$/.test(jobId)) return undefined;
  const nodes = Math.min(MOST_NODES, count(env.SLURM_JOB_NUM_NODES) ?? count(env.SLURM_NNODES) ?? 1);
  const nodeList = /^[\w.,[\]-]{1,65536}$/.exec(env.SLURM_JOB_NODELIST ?? '')?.[0];
  const listed = expandCounts(env.SLURM_JOB_CPUS_PER_NODE ?? '');
  const coresPerNode = listed.length === nodes ? listed : [];
  const perNode = count(env.SLURM_MEM_PER_NODE);
  const perCore = count(env.SLURM_MEM_PER_CPU);
  const memoryMB = perNode !== undefined ? { perNode } : perCore !== undefined ? { perCore } : undefined;
  const cores = count(env.SLURM_CPUS_ON_NODE) ?? (nodes === 1 ? coresPerNode[0] : undefined);
  const memoryHere = cores === undefined ? perNode : memoryOf(memoryMB, cores);
  const here = { ...(cores !== undefined && { cores }), ...(memoryHere !== undefined && { memoryMB: memoryHere }) };
  const restarts = count(env.SLURM_RESTART_COUNT) ?? 0;
  const isOnNode = env.SLURMD_NODENAME !== undefined;
  return { jobId, restarts, isOnNode, nodes, nodeList, coresPerNode, here, memoryMB };
}

/** Of a node on which the job has so many cores. */
export function memoryOf(memoryMB: JobEnvironment['memoryMB'], cores: number): number | undefined {
  if (memoryMB === undefined) return undefined;
  return 'perNode' in memoryMB ? memoryMB.perNode : memoryMB.perCore * cores;
}

/** For people. */
export function describeJob({ jobId, nodes, coresPerNode, here }: JobEnvironment): string {
  const cores = nodes === 1 ? here.cores : coresPerNode.reduce((sum, each) => sum + each, 0);
  const parts = [
    `${nodes} ${nodes === 1 ? 'node' : 'nodes'}`,
    ...(cores ? [`${cores} ${cores === 1 ? 'core' : 'cores'}`] : []),
  ];
  return `Slurm job ${jobId}: ${parts.join(', ')}`;
}

/** Undefined for 0, with which Slurm means all of a node, and for anything else that is no number. */
function count(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d{0,9}$/.test(text) ? Number(text) : undefined;
}

/** `4(x2),2` is 4, 4, 2. Empty if a part is invalid. */
function expandCounts(text: string): number[] {
  const all: number[] = [];
  for (const part of text.split(',')) {
    const [, value, times = '1'] = /^([1-9]\d{0,5})(?:\(x([1-9]\d{0,5})\))?$/.exec(part) ?? [];
    if (value === undefined || all.length + Number(times) > MOST_NODES) return [];
    for (let i = 0; i < Number(times); i++) all.push(Number(value));
  }
  return all;
}
