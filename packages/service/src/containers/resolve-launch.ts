import type { InstanceTypeConfig } from '../config/service-config.ts';
import type { Launch } from '../engines/engine.ts';
import { storagePaths } from '../storage/storage-paths.ts';
import type { ContainerRow } from '../store/container-row.ts';
import { expandPorts, portVariables } from './port-variables.ts';

const GIB = 1024 ** 3;

/** What containers are launched with that their rows do not say. */
export interface LaunchSettings {
  readonly storage: string;
  readonly logLimitBytes: number;
  readonly instanceTypes: ReadonlyMap<string, InstanceTypeConfig>;
}

/** What the engine is told of a container, also where the configuration no longer has its instance type. */
export function resolveLaunch(row: ContainerRow, { storage, logLimitBytes, instanceTypes }: LaunchSettings): Launch {
  return {
    key: row.launchKey,
    ...(row.launchBootID !== undefined && { bootID: row.launchBootID }),
    containerID: row.id,
    clusterID: row.clusterID,
    accountID: row.accountID,
    ...(row.spec.image === undefined ? {} : { image: row.spec.image }),
    command: (row.spec.command ?? []).map((argument) => expandPorts(argument, row.ports)),
    env: { ...row.spec.envs, ...portVariables(row.ports) },
    ports: row.ports,
    mounts: row.mounts.map(({ volumeID, subPath, kind, target, readOnly = false }) => ({
      root: storagePaths.volume(storage, row.accountID, volumeID),
      subPath,
      kind,
      target,
      readOnly,
    })),
    limits: { cores: row.amount.cores, memoryBytes: row.amount.memoryGB * GIB, gpus: row.amount.gpus },
    directory: storagePaths.container(storage, row.launchKey),
    logPath: storagePaths.log(storage, row.launchKey),
    logLimitBytes,
    options: instanceTypes.get(row.spec.instanceType)?.options ?? {},
  };
}
