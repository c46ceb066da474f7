import type { HardwareModels } from '../engine.ts';
import { onlyModel } from '../machine-models.ts';

/** A line for each node of each partition: partition, with `*` if it is the default; host name; generic resources. */
export const NODE_ARGUMENTS: readonly string[] = ['--all', '--Node', '--noheader', '--format=%P|%n|%G'];

/** The machine of the service, which may be a node. */
interface OwnMachine {
  readonly hostname: string;
  readonly models: HardwareModels;
}

interface Node {
  readonly partition: string;
  readonly isDefault: boolean;
  readonly host: string;
  readonly gpus: readonly string[];
}

/**
 * What the nodes of some partitions have, by what Slurm says of them; `partitions` is a list as `sbatch` takes it, or
 * undefined for the default one. Slurm knows the types of GPUs, where its administrator has named them, and no
 * processors: those are known only where the service runs on the only node.
 */
export function slurmModels(text: string, partitions: string | undefined, own: OwnMachine): HardwareModels {
  const wanted = partitions?.split(',');
  const nodes = text
    .split('\n')
    .flatMap(parseNode)
    .filter(({ partition, isDefault }) => wanted?.includes(partition) ?? isDefault);
  const isOwn = nodes.length > 0 && nodes.every(({ host }) => shortName(host) === shortName(own.hostname));
  const gpu = onlyModel(nodes.flatMap(({ gpus }) => gpus));
  return { ...(isOwn && own.models), ...(gpu !== undefined && { gpu }) };
}

function parseNode(line: string): Node[] {
  const [partition, host, resources] = line.trim().split('|');
  if (partition === undefined || host === undefined || resources === undefined) return [];
  const isDefault = partition.endsWith('*');
  return [{ partition: isDefault ? partition.slice(0, -1) : partition, isDefault, host, gpus: gpuTypes(resources) }];
}

/** Of `gpu:a100:4(S:0-1),gpu:2,mps:400`: `a100` and, for the one without a type, ''. */
function gpuTypes(resources: string): string[] {
  const entries = resources.replaceAll(/\([^)]*\)/g, '').split(',');
  return entries
    .map((entry) => entry.split(':'))
    .filter(([name]) => name === 'gpu')
    .map(([, type = '']) => (/^\d+$/.test(type) ? '' : type));
}

function shortName(host: string): string {
  return host.split('.')[0] ?? host;
}
