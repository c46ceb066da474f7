import type { InstanceType } from '@sluice/client';
import type { Resources } from '@sluice/core';

const GB = 1e9;

/**
 * The smallest instance type that fits: by GPUs, then cores, then memory, then name. Undefined: none fits. Without
 * `resources`, the smallest of all.
 */
export function chooseInstanceType(
  types: readonly InstanceType[],
  resources: Resources = {},
): InstanceType | undefined {
  return types.filter((type) => fits(type, resources)).sort(bySize)[0];
}

function fits(type: InstanceType, { cpu = 0, memoryBytes = 0, gpu = 0, gpuModel }: Resources): boolean {
  const modelFits = gpuModel === undefined || type.gpu?.model?.toLowerCase().includes(gpuModel.toLowerCase()) === true;
  return (
    type.cpu.cores >= cpu &&
    type.memory.sizeGB * GB >= memoryBytes &&
    (type.gpu?.count ?? 0) >= Math.max(gpu, gpuModel === undefined ? 0 : 1) &&
    modelFits
  );
}

function bySize(a: InstanceType, b: InstanceType): number {
  return (
    (a.gpu?.count ?? 0) - (b.gpu?.count ?? 0) ||
    a.cpu.cores - b.cpu.cores ||
    a.memory.sizeGB - b.memory.sizeGB ||
    (a.id < b.id ? -1 : 1)
  );
}
