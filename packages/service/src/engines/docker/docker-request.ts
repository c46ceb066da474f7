import type { Launch } from '../engine.ts';
import type { FirstProcessParts } from './docker-first-process.ts';
import type { HeldSource } from './docker-source.ts';

/** Container names and labels carry the key, so that a lost reply is found again by name. */
export const KEY_LABEL = 'sluice.key';
export const CLUSTER_LABEL = 'sluice.cluster';

export function dockerName(key: string): string {
  return `sluice-${key}`;
}

/** The body of `POST /containers/create`. */
export function dockerRequest(launch: Launch, options: ContainerBodyOptions): Record<string, unknown> {
  const { cores, memoryBytes, gpus } = launch.limits;
  const { sources, firstProcess } = options;
  const targets = new Set(launch.mounts.map(({ target }) => target));
  return {
    Image: launch.image,
    ...(firstProcess ? { Entrypoint: firstProcess.entrypoint } : {}),
    ...(options.argv.length > 0 ? { Cmd: options.argv } : {}),
    Env: Object.entries(launch.env).map(([name, value]) => `${name}=${value}`),
    Labels: { [KEY_LABEL]: launch.key, [CLUSTER_LABEL]: launch.clusterID },
    HostConfig: {
      // Networks are not isolated: a container listens on the port that it was given (protocol, "Ports").
      NetworkMode: 'host',
      // On the host's network it could read what all others send and receive.
      CapDrop: ['NET_RAW'],
      ...(options.seccompProfile === undefined ? {} : { SecurityOpt: [`seccomp=${options.seccompProfile}`] }),
      NanoCpus: cores * 1e9,
      Memory: memoryBytes,
      MemorySwap: memoryBytes,
      Mounts: [...sources.flatMap((source) => bindMounts(source, targets)), ...(firstProcess?.mounts ?? [])],
      LogConfig: { Type: logDriver(options), Config: {} },
      RestartPolicy: { Name: 'no' },
      Init: false,
      ...(gpus > 0 ? { DeviceRequests: [{ Driver: '', Count: gpus, Capabilities: [['gpu']] }] } : {}),
    },
  };
}

/**
 * Daemons before API 1.44 make only the mount itself read-only, and none says whether it did more: what is mounted
 * further in on the host is left out, and then mounted by itself.
 */
function bindMounts({ path, mount, submounts }: HeldSource, targets: ReadonlySet<string>): Record<string, unknown>[] {
  if (mount.readOnly !== true) return [{ Type: 'bind', Source: path, Target: mount.target }];
  // Another volume may be wanted at the same place.
  const shown = submounts.filter((inner) => !targets.has(mount.target + inner));
  return ['', ...shown].map((inner) => ({
    Type: 'bind',
    Source: path + inner,
    Target: mount.target + inner,
    ReadOnly: true,
    BindOptions: { NonRecursive: true },
  }));
}

interface ContainerBodyOptions {
  /** Given to the image's entrypoint as `docker run` does, or with a first process the whole command line. */
  readonly argv: readonly string[];
  readonly sources: readonly HeldSource[];
  readonly firstProcess: FirstProcessParts | undefined;
  readonly isPodman: boolean;
  /** Path of a profile in the place of the daemon's own. */
  readonly seccompProfile?: string | undefined;
}

/** The first process keeps the log itself. Else the daemon's must be complete from its first byte (docker-log.ts). */
function logDriver({ firstProcess, isPodman }: ContainerBodyOptions): string {
  if (firstProcess) return 'none';
  // `json-file` replaces what is no UTF-8; `local` would keep it, but loses the newline of a line over 16 KiB.
  return isPodman ? 'k8s-file' : 'json-file';
}
