import type { HardwareModels } from '../engine.ts';
import { onlyModel } from '../machine-models.ts';

/**
 * Arguments of `sinfo` for one line per node and partition: partition (with `*` if it is the default), host name, generic
 * resources, time limit of the partition.
 */
export const NODE_ARGUMENTS: readonly string[] = ['--all', '--Node', '--noheader', '--format=%P|%n|%G|%l'];

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
  /** Of the partition. */
  readonly limitMs: number | undefined;
}

/**
 * The models in the nodes of some partitions according to `text`, the output of `sinfo`; `partitions` is a list as in
 * `sbatch`, or undefined for the default partition. Slurm knows the types of GPUs if its administrator has named them, but
 * not processors: those are known only if the service runs on the only node.
 */
export function slurmModels(text: string, partitions: string | undefined, own: OwnMachine): HardwareModels {
  const nodes = nodesIn(text, partitions);
  const isOwn = nodes.length > 0 && nodes.every(({ host }) => shortName(host) === shortName(own.hostname));
  const gpu = onlyModel(nodes.flatMap(({ gpus }) => gpus));
  return { ...(isOwn && own.models), ...(gpu !== undefined && { gpu }) };
}

/** The longest time limit of these partitions in milliseconds; undefined if one has none, or if it is unknown. */
export function partitionLimit(text: string, partitions: string | undefined): number | undefined {
  const limits = nodesIn(text, partitions).map(({ limitMs = Infinity }) => limitMs);
  const longest = Math.max(0, ...limits);
  return limits.length === 0 || longest === Infinity ? undefined : longest;
}

function nodesIn(text: string, partitions: string | undefined): Node[] {
  const wanted = partitions?.split(',');
  return text
    .split('\n')
    .flatMap(parseNode)
    .filter(({ partition, isDefault }) => wanted?.includes(partition) ?? isDefault);
}

function parseNode(line: string): Node[] {
  const [partition, host, resources, limit = ''] = line.trim().split('|');
  if (partition === undefined || host === undefined || resources === undefined) return [];
  const isDefault = partition.endsWith('*');
  const name = isDefault ? partition.slice(0, -1) : partition;
  return [{ partition: name, isDefault, host, gpus: gpuTypes(resources), limitMs: parseLimit(limit) }];
}

/** `[days-][hours:]minutes:seconds`; undefined for `infinite` and anything else. */
function parseLimit(text: string): number | undefined {
  const [, days = 0, hours = 0, minutes, seconds] = /^(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)$/.exec(text) ?? [];
  if (minutes === undefined || seconds === undefined) return undefined;
  return (((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
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
