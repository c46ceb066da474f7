import type { Launch } from '../engine.ts';
import type { ContainerOptions } from './container-options.ts';
import type { FirstProcessParts } from './docker-first-process.ts';
import type { HeldSource } from './docker-source.ts';
import { GPU_LABEL, gpuDevices } from './gpu-devices.ts';

/** Label with the launch's key, which identifies the container in lists and events. */
export const KEY_LABEL = 'sluice.key';
/** Label with the cluster's ID, by which one cluster's containers are listed. */
export const CLUSTER_LABEL = 'sluice.cluster';

/** The container's name, derived from the key: after a lost response the container is found by it. */
export function dockerName(key: string): string {
  return `sluice-${key}`;
}

/** The body of `POST /containers/create`. */
export function dockerRequest(launch: Launch, options: ContainerBodyOptions): Record<string, unknown> {
  const { cores, memoryBytes, gpus } = launch.limits;
  const { sources, firstProcess, container } = options;
  const ulimits = Object.entries(container.ulimits);
  const targets = new Set(launch.mounts.map(({ target }) => target));
  return {
    Image: launch.image,
    ...(firstProcess ? { Entrypoint: firstProcess.entrypoint } : {}),
    ...(options.argv.length > 0 ? { Cmd: options.argv } : {}),
    ...(container.user === undefined ? {} : { User: container.user }),
    Env: Object.entries(launch.env).map(([name, value]) => `${name}=${value}`),
    Labels: {
      [KEY_LABEL]: launch.key,
      [CLUSTER_LABEL]: launch.clusterID,
      ...(options.gpus && { [GPU_LABEL]: JSON.stringify(options.gpus) }),
    },
    HostConfig: {
      // Networks are not isolated: a container listens on its assigned port (protocol, "Ports").
      NetworkMode: 'host',
      // On the host's network it could otherwise read all traffic.
      CapDrop: ['NET_RAW'],
      ...(options.security.length > 0 ? { SecurityOpt: options.security } : {}),
      NanoCpus: cores * 1e9,
      Memory: memoryBytes,
      MemorySwap: memoryBytes,
      ...(container.shmSizeBytes === undefined ? {} : { ShmSize: container.shmSizeBytes }),
      ...(ulimits.length > 0
        ? { Ulimits: ulimits.map(([Name, one]) => ({ Name, Soft: one.soft, Hard: one.hard })) }
        : {}),
      Mounts: [...sources.flatMap((source) => bindMounts(source, targets)), ...(firstProcess?.mounts ?? [])],
      LogConfig: { Type: logDriver(options), Config: {} },
      RestartPolicy: { Name: 'no' },
      Init: false,
      ...(options.gpus
        ? gpuDevices(options.gpus)
        : gpus > 0
          ? { DeviceRequests: [{ Driver: '', Count: gpus, Capabilities: [['gpu']] }] }
          : {}),
    },
  };
}

/**
 * Daemons before API 1.44 make only the mount itself read-only, and no version reports whether inner mounts are included. So
 * what is mounted further inside on the host is excluded, and then mounted separately.
 */
function bindMounts({ path, mount, submounts }: HeldSource, targets: ReadonlySet<string>): Record<string, unknown>[] {
  if (mount.readOnly !== true) return [{ Type: 'bind', Source: path, Target: mount.target }];
  // Another volume may be mounted at the same place.
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
  /** Arguments for the image's entrypoint as in `docker run`; with a first process, the whole command line. */
  readonly argv: readonly string[];
  readonly sources: readonly HeldSource[];
  readonly firstProcess: FirstProcessParts | undefined;
  readonly isPodman: boolean;
  readonly container: ContainerOptions;
  /** Identifiers of the GPUs that it gets; undefined: the daemon chooses as many as the instance type has. */
  readonly gpus?: readonly string[] | undefined;
  /** Options that restrict the container, such as the path of a profile that replaces the daemon's default. */
  readonly security: readonly string[];
}

/**
 * The first process writes the log itself. Without one, the daemon's log must be complete from its first byte
 * (docker-log.ts).
 */
function logDriver({ firstProcess, isPodman }: ContainerBodyOptions): string {
  if (firstProcess) return 'none';
  // `json-file` replaces invalid UTF-8; `local` would keep it, but drops the newline of lines over 16 KiB.
  return isPodman ? 'k8s-file' : 'json-file';
}
