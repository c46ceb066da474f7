import type { HardwareModels } from '../engine.ts';
import { onlyModel } from '../machine-models.ts';

/**
 * Arguments of `sinfo` for one line per node and partition: partition (with `*` if it is the default), host name, generic
 * resources, time limit of the partition, cores, megabytes.
 */
export const NODE_ARGUMENTS: readonly string[] = ['--all', '--Node', '--noheader', '--format=%P|%n|%G|%l|%c|%m'];

/** The service's machine, which may be a node. */
interface OwnMachine {
  readonly hostname: string;
  readonly models: HardwareModels;
}

/** A node as a member of one partition. */
export interface SlurmNode {
  readonly partition: string;
  readonly isDefault: boolean;
  readonly host: string;
  readonly gpus: readonly SlurmGpus[];
  /** Of the partition. */
  readonly limitMs: number | undefined;
  readonly cores: number;
  /** Of 2^20 bytes. */
  readonly memoryMB: number;
}

/** GPUs of one type in a node; the type is '' if the administrator has given none. */
export interface SlurmGpus {
  readonly type: string;
  readonly count: number;
}

/**
 * The models in the nodes of some partitions according to `text`, the output of `sinfo`; `partitions` is a list as in
 * `sbatch`, or undefined for the default partition. Slurm knows the types of GPUs if its administrator has named them, but
 * not processors: those are known only if the service runs on the only node.
 */
export function slurmModels(text: string, partitions: string | undefined, own: OwnMachine): HardwareModels {
  const nodes = nodesIn(text, partitions);
  const isOwn = nodes.length > 0 && nodes.every(({ host }) => shortName(host) === shortName(own.hostname));
  const gpu = onlyModel(nodes.flatMap(({ gpus }) => gpus.map(({ type }) => type)));
  return { ...(isOwn && own.models), ...(gpu !== undefined && { gpu }) };
}

/** The longest time limit of these partitions in milliseconds; undefined if one has none, or if it is unknown. */
export function partitionLimit(text: string, partitions: string | undefined): number | undefined {
  const limits = nodesIn(text, partitions).map(({ limitMs = Infinity }) => limitMs);
  const longest = Math.max(0, ...limits);
  return limits.length === 0 || longest === Infinity ? undefined : longest;
}

/** The nodes of all partitions in the output of `sinfo`. */
export function parseNodes(text: string): SlurmNode[] {
  return text.split('\n').flatMap(parseNode);
}

/** The nodes of some partitions, as in `slurmModels`. */
export function nodesIn(text: string, partitions: string | undefined): SlurmNode[] {
  const wanted = partitions?.split(',');
  return parseNodes(text).filter(({ partition, isDefault }) => wanted?.includes(partition) ?? isDefault);
}

function parseNode(line: string): SlurmNode[] {
  const [partition, host, resources, limit = '', cores = '', memory = ''] = line.trim().split('|');
  if (partition === undefined || host === undefined || resources === undefined) return [];
  const isDefault = partition.endsWith('*');
  const name = isDefault ? partition.slice(0, -1) : partition;
  const size = { cores: Number.parseInt(cores, 10) || 0, memoryMB: Number.parseInt(memory, 10) || 0 };
  return [{ partition: name, isDefault, host, gpus: parseGpus(resources), limitMs: parseTimeLimit(limit), ...size }];
}

/** `[days-][hours:]minutes:seconds`; undefined for `infinite` and anything else. */
export function parseTimeLimit(text: string): number | undefined {
  const [, days = 0, hours = 0, minutes, seconds] = /^(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)$/.exec(text) ?? [];
  if (minutes === undefined || seconds === undefined) return undefined;
  return (((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
}

/** The GPUs in a list of generic resources. For `gpu:a100:4(S:0-1),gpu:2,mps:400`: four of type `a100` and two of type ''. */
export function parseGpus(resources: string): SlurmGpus[] {
  const entries = resources.replaceAll(/\([^)]*\)/g, '').split(',');
  return entries.flatMap((entry) => {
    const [name, ...words] = entry.split(':');
    const [type = '', count = ''] = words.length === 1 && /^\d+$/.test(words[0]!) ? ['', ...words] : words;
    return name === 'gpu' ? [{ type, count: Number.parseInt(count, 10) || 1 }] : [];
  });
}

/** A host name without its domain. */
export function shortName(host: string): string {
  return host.split('.')[0] ?? host;
}
