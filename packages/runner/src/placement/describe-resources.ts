import type { InstanceType } from '@sluice/client';
import type { Resources } from '@sluice/core';

/** Resources in words, for example `64 cores and 512 GB of memory`. */
export function describeResources({ cpu, memoryBytes, gpu, gpuModel }: Resources): string {
  const parts = [
    ...(cpu === undefined ? [] : [cpu === 1 ? '1 core' : `${cpu} cores`]),
    ...(memoryBytes === undefined ? [] : [`${+(memoryBytes / 1e9).toFixed(2)} GB of memory`]),
    ...(gpu === undefined && gpuModel === undefined ? [] : [`${gpu ?? 1} GPU ${gpuModel ?? ''}`.trim()]),
  ];
  return parts.length === 0 ? 'anything' : parts.join(' and ');
}

/** Why a step with several tasks cannot run on a cluster. */
export function cannotRunTasks(cluster: string): string {
  return `cluster ${cluster} does not start a step on several nodes: use a cluster with the engine \`slurm\`, or leave out \`nodes\` and \`tasksPerNode\``;
}

/** The available alternatives: the names of the types if a type was requested by `name`, otherwise the largest type. */
export function describeOffer(types: readonly InstanceType[], name: string | undefined): string {
  if (types.length === 0) return '; it has none';
  if (name !== undefined) return `; it has ${[...new Set(types.map(({ id }) => id))].slice(0, 8).join(', ')}`;
  const largest = types.reduce((most, type) => (sizeOf(type) > sizeOf(most) ? type : most));
  const { id, cpu, memory, gpu } = largest;
  const gpus =
    gpu === undefined || gpu.count === 0
      ? {}
      : { gpu: gpu.count, ...(gpu.model !== undefined && { gpuModel: gpu.model }) };
  return `; the largest, ${id}, has ${describeResources({ cpu: cpu.cores, memoryBytes: memory.sizeGB * 1e9, ...gpus })}`;
}

function sizeOf({ cpu, memory, gpu }: InstanceType): number {
  return (gpu?.count ?? 0) * 1e9 + cpu.cores * 1e5 + memory.sizeGB;
}
