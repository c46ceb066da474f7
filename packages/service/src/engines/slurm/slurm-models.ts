import type { HardwareModels } from '../engine.ts';
import { onlyModel } from '../machine-models.ts';

/**
 * Arguments of `sinfo` for one line per node and partition: partition (with `*` if it is the default), host name, generic
 * resources.
 */
export const NODE_ARGUMENTS: readonly string[] = ['--all', '--Node', '--noheader', '--format=%P|%n|%G'];

/** The service's machine, which may be a node. */
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
 * The models in the nodes of some partitions according to `text`, the output of `sinfo`; `partitions` is a list as in
 * `sbatch`, or undefined for the default partition. Slurm knows the types of GPUs if its administrator has named them, but
 * not processors: those are known only if the service runs on the only node.
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

/** For `gpu:a100:4(S:0-1),gpu:2,mps:400`: `a100` and, for the entry without a type, ''. */
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
