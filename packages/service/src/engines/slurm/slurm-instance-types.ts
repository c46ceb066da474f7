import { GB } from '../../protocol/sizes.ts';
import { doublingSizes } from '../doubling-sizes.ts';
import type { SlurmNode } from './slurm-models.ts';

type NodeSize = Pick<SlurmNode, 'cores' | 'memoryMB' | 'gpus'>;

/** An instance type that is derived from nodes, as it would be in a configuration. */
export interface DerivedInstanceType {
  readonly id: string;
  readonly cpu: number;
  readonly memory: string;
  readonly gpu?: number;
  readonly gpuModel?: string;
  readonly options?: { readonly gres: string };
}

/**
 * Instance types for parts of these nodes: 1, 2, 4 … cores up to all of a node, each with its share of the memory, twice
 * that, and so on up to all of it, so that much memory costs no cores; and 1, 2, 4 … GPUs with their share of cores and
 * memory.
 */
export function deriveInstanceTypes(nodes: readonly NodeSize[]): DerivedInstanceType[] {
  const types = new Map<string, DerivedInstanceType>();
  for (const node of nodes) for (const type of partsOf(node)) types.set(type.id, type);
  return [...types.values()].sort((a, b) => compareSizes(a, b) || (a.id < b.id ? -1 : 1));
}

function partsOf({ cores, memoryMB, gpus }: NodeSize): DerivedInstanceType[] {
  const memoryGB = Math.floor((memoryMB * 2 ** 20) / GB);
  if (cores === 0 || memoryGB === 0) return [];
  const shareOf = (part: number) => Math.max(1, Math.floor(memoryGB * part));
  const plain = doublingSizes(1, cores).flatMap((cpu) =>
    doublingSizes(shareOf(cpu / cores), memoryGB).map((gb) => ({ id: `cpu${cpu}-${gb}gb`, cpu, memory: `${gb}GB` })),
  );
  const withGpus = gpus.flatMap(({ type, count }) =>
    doublingSizes(1, count).map((gpu) => {
      const cpu = Math.max(1, Math.floor((cores * gpu) / count));
      const gb = shareOf(gpu / count);
      const name = type.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
      const id = [`gpu${gpu}`, ...(name === '' ? [] : [name]), `cpu${cpu}`, `${gb}gb`].join('-');
      const typed = type === '' ? {} : { gpuModel: type, options: { gres: `gpu:${type}:${gpu}` } };
      return { id, cpu, memory: `${gb}GB`, gpu, ...typed };
    }),
  );
  return [...plain, ...withGpus];
}

function compareSizes(a: DerivedInstanceType, b: DerivedInstanceType): number {
  return (a.gpu ?? 0) - (b.gpu ?? 0) || a.cpu - b.cpu || Number.parseInt(a.memory, 10) - Number.parseInt(b.memory, 10);
}
