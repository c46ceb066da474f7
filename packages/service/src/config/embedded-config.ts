import { availableParallelism, totalmem } from 'node:os';
import { cpuModels } from '../engines/machine-models.ts';
import { type InstanceTypeConfig, type ServiceConfig, serviceConfigSchema } from './service-config.ts';

/** The one cluster and the one account of an embedded service. */
export const EMBEDDED_SCOPE = { clusterID: 'local', accountID: 'local' } as const;

const GIB = 1024 ** 3;

/**
 * Configuration of a service for this machine alone: cluster `local`, account `local`, instance types `local-1`,
 * `local-2`, `local-4` … up to all cores, memory in proportion. `cores` is the capacity offered, by default the
 * machine's; it may be larger where containers hardly compute.
 */
export function embeddedConfig(options: { root: string; cores?: number }): ServiceConfig {
  const machineCores = availableParallelism();
  const machineMemoryGB = Math.max(1, Math.floor(totalmem() / GIB));
  const cores = options.cores ?? machineCores;
  const memoryPerCore = machineMemoryGB / machineCores;
  return serviceConfigSchema.parse({
    root: options.root,
    clusters: [
      {
        id: EMBEDDED_SCOPE.clusterID,
        engine: 'local',
        capacity: { cores, memoryGB: Math.max(1, Math.floor(memoryPerCore * cores), cores) },
        accounts: [EMBEDDED_SCOPE.accountID],
        instanceTypes: instanceTypes(machineCores, memoryPerCore),
      },
    ],
  });
}

/** Powers of two up to the machine's cores, and the machine itself where that is no power of two. */
function instanceTypes(machineCores: number, memoryPerCore: number): Pick<InstanceTypeConfig, 'id' | 'cores'>[] {
  const sizes: number[] = [];
  for (let size = 1; size <= machineCores; size *= 2) sizes.push(size);
  if (sizes.at(-1) !== machineCores) sizes.push(machineCores);
  const { cpu: cpuModel } = cpuModels();
  return sizes.map((size) => ({
    id: `local-${size}`,
    cores: size,
    memoryGB: Math.max(1, Math.floor(memoryPerCore * size)),
    ...(cpuModel !== undefined && { cpuModel }),
  }));
}
