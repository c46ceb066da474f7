import { availableParallelism, totalmem } from 'node:os';
import type { JobEnvironment } from '@sluice/host-system';
import { doublingSizes } from '../engines/doubling-sizes.ts';
import { cpuModels } from '../engines/machine-models.ts';
import { GB } from '../protocol/sizes.ts';
import { type InstanceTypeConfig, type ServiceConfig, serviceConfigSchema } from './service-config.ts';

/** The only cluster and account of an embedded service. */
export const EMBEDDED_SCOPE = { clusterID: 'local', accountID: 'local' } as const;

/**
 * The configuration of a service for this machine only: cluster `local`, account `local`, and instance types `local-1`,
 * `local-2`, `local-4` … up to all cores, with memory in proportion. `cpu` is the cluster's capacity in cores, by default
 * that of the machine; it may be larger if containers use little CPU time. `job`: the part of the machine that a job of Slurm
 * has.
 */
export function embeddedConfig(options: {
  root: string;
  cpu?: number;
  job?: JobEnvironment['here'] | undefined;
}): ServiceConfig {
  const { cores = Infinity, memoryMB = Infinity } = options.job ?? {};
  const machineCores = Math.min(availableParallelism(), cores);
  const machineMemoryGB = Math.max(1, Math.floor(Math.min(totalmem(), memoryMB * 2 ** 20) / GB));
  const cpu = options.cpu ?? machineCores;
  const memoryPerCore = machineMemoryGB / machineCores;
  return serviceConfigSchema.parse({
    root: options.root,
    clusters: [
      {
        id: EMBEDDED_SCOPE.clusterID,
        engine: 'local',
        capacity: { cpu, memory: `${Math.max(1, Math.floor(memoryPerCore * cpu), cpu)}GB` },
        accounts: [EMBEDDED_SCOPE.accountID],
        instanceTypes: instanceTypes(machineCores, memoryPerCore),
      },
    ],
  });
}

/** Powers of two up to the machine's cores, and the machine's cores themselves. */
function instanceTypes(
  machineCores: number,
  memoryPerCore: number,
): Pick<InstanceTypeConfig, 'id' | 'cpu' | 'memory'>[] {
  const { cpu: cpuModel } = cpuModels();
  return doublingSizes(1, machineCores).map((size) => ({
    id: `local-${size}`,
    cpu: size,
    memory: `${Math.max(1, Math.floor(memoryPerCore * size))}GB`,
    ...(cpuModel !== undefined && { cpuModel }),
  }));
}
