import { join } from 'node:path';
import type { InstanceTypeConfig } from '../config/service-config.ts';
import type { Launch } from '../engines/engine.ts';
import type { ContainerRow } from './container-row.ts';
import { expandPorts, portVariables } from './port-variables.ts';

const GIB = 1024 ** 3;

/** Where a cluster's storage root keeps what. */
export const storagePaths = {
  container: (storage: string, launchKey: string) => join(storage, 'containers', launchKey),
  log: (storage: string, launchKey: string) => join(storage, 'containers', launchKey, 'log'),
  /** A directory for each account, with one for each of its volumes. */
  volumes: (storage: string) => join(storage, 'volumes'),
  volume: (storage: string, accountID: string, volumeID: string) => join(storage, 'volumes', accountID, volumeID),
  /** Properties that WebDAV clients attach to a volume's files. */
  properties: (storage: string, accountID: string, volumeID: string) =>
    join(storage, 'properties', accountID, volumeID),
  trash: (storage: string) => join(storage, 'trash'),
};

/** What the engine is told of a container. `instanceType` is absent where the configuration no longer has it. */
export function resolveLaunch(row: ContainerRow, storage: string, instanceType?: InstanceTypeConfig): Launch {
  return {
    key: row.launchKey,
    containerID: row.id,
    clusterID: row.clusterID,
    accountID: row.accountID,
    ...(row.spec.image === undefined ? {} : { image: row.spec.image }),
    command: (row.spec.command ?? []).map((argument) => expandPorts(argument, row.ports)),
    env: { ...row.spec.envs, ...portVariables(row.ports) },
    ports: row.ports,
    mounts: row.mounts.map(({ volumeID, subPath, kind, target }) => ({
      root: storagePaths.volume(storage, row.accountID, volumeID),
      subPath,
      kind,
      target,
    })),
    limits: { cores: row.amount.cores, memoryBytes: row.amount.memoryGB * GIB, gpus: row.amount.gpus },
    directory: storagePaths.container(storage, row.launchKey),
    logPath: storagePaths.log(storage, row.launchKey),
    options: instanceType?.options ?? {},
  };
}
