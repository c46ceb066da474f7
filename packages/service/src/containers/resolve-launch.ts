import { own } from '@sluice/client';
import type { Launch } from '../engines/engine.ts';
import { GB } from '../protocol/sizes.ts';
import { storagePaths } from '../storage/storage-paths.ts';
import type { ContainerRow } from '../store/container-row.ts';
import type { Store } from '../store/store.ts';
import { TABLES } from '../store/tables.ts';
import { findJobRequest } from './parse-job-request.ts';
import { type EnvSealer, openSecretEnvs } from './secret-envs.ts';

/** Values for a launch that are not in the container's row. */
export interface LaunchSettings {
  readonly storage: string;
  readonly logLimitBytes: number;
  readonly sealer?: EnvSealer | undefined;
}

/** The launch that the engine receives. It does not depend on the present instance types. */
export function resolveLaunch(row: ContainerRow, { storage, logLimitBytes, sealer }: LaunchSettings): Launch {
  const job = findJobRequest(row.spec);
  return {
    key: row.launchKey,
    ...(row.launchBootId !== undefined && { bootId: row.launchBootId }),
    containerID: row.id,
    clusterID: row.clusterID,
    accountID: row.accountID,
    ...(row.spec.image === undefined ? {} : { image: row.spec.image }),
    command: (row.spec.command ?? []).map((argument) => expandPorts(argument, row.ports)),
    env: { ...row.spec.envs, ...openSecretEnvs(row, sealer), ...portVariables(row.ports) },
    ports: row.ports,
    mounts: row.mounts.map(({ volumeID, subPath, kind, target, readOnly = false }) => ({
      root: storagePaths.volume(storage, row.accountID, volumeID),
      subPath,
      kind,
      target,
      readOnly,
    })),
    limits: { cores: row.amount.cores, memoryBytes: row.amount.memoryGB * GB, gpus: row.amount.gpus },
    directory: storagePaths.container(storage, row.launchKey),
    logPath: storagePaths.log(storage, row.launchKey),
    logLimitBytes,
    options: row.options,
    ...(job && { job }),
  };
}

/**
 * The ID of a mounted volume that no longer exists. Its files are found by its ID, which may now belong to another volume.
 * A purge never removes a mounted volume, so this concerns only rows that another program has changed.
 */
export function findLostVolume({ mounts }: ContainerRow, store: Store): string | undefined {
  // Thousands of mounts may be of one volume.
  const keys = new Set(mounts.map(({ volumeKey }) => volumeKey));
  const lost = [...keys].find((key) => store.get(TABLES.volumes, key) === undefined);
  return mounts.find(({ volumeKey }) => volumeKey === lost)?.volumeID;
}

const PREFIX = 'BAT_PORT_';

/** The environment variables with the container's ports: named as in the protocol, and with `_` in place of `-` for shells. */
function portVariables(ports: Readonly<Record<string, number>>): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const [name, port] of Object.entries(ports)) {
    variables[PREFIX + name] = String(port);
    variables[PREFIX + name.replaceAll('-', '_')] = String(port);
  }
  return variables;
}

const REFERENCE = /\$(?:BAT_PORT_([A-Za-z0-9_-]+)|\{BAT_PORT_([A-Za-z0-9_-]+)\}|\(BAT_PORT_([A-Za-z0-9_-]+)\))/g;

/** Replaces `$BAT_PORT_x`, `${BAT_PORT_x}` and `$(BAT_PORT_x)` in an argument. References to unknown ports stay unchanged. */
function expandPorts(argument: string, ports: Readonly<Record<string, number>>): string {
  if (!argument.includes(PREFIX)) return argument;
  const variables = portVariables(ports);
  return argument.replace(REFERENCE, (whole, bare?: string, braced?: string, bracketed?: string) => {
    const exact = own(variables, PREFIX + (braced ?? bracketed ?? bare ?? ''));
    if (exact !== undefined) return exact;
    return bare === undefined ? whole : expandBare(whole, bare, variables);
  });
}

/** Without braces, the longest known port name is used: `$BAT_PORT_web-x` may mean the port `web` followed by `-x`. */
function expandBare(whole: string, name: string, variables: Readonly<Record<string, string>>): string {
  for (let length = name.length - 1; length > 0; length--) {
    const port = own(variables, PREFIX + name.slice(0, length));
    if (port !== undefined && !/[A-Za-z0-9_]/.test(name.charAt(length))) return port + name.slice(length);
  }
  return whole;
}
