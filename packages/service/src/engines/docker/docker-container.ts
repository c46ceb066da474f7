import type { Launch, Mount } from '../engine.ts';

/** Container names and labels carry the key, so that a lost reply is found again by name (design §5). */
const KEY_LABEL = 'sluice.key';
export const CLUSTER_LABEL = 'sluice.cluster';

export function dockerName(key: string): string {
  return `sluice-${key}`;
}

/** The key of a name as the list gives it (`/sluice-…`), undefined for containers that are not ours. */
export function keyOfName(name: string): string | undefined {
  return /^\/?sluice-([a-z0-9-]+)$/.exec(name)?.[1];
}

/**
 * The body of `POST /containers/create`. `source` gives the path under which the daemon finds a mount's root and
 * sub-path; the image's entrypoint is kept and `command` takes the place of its `CMD`, as `docker run` does.
 */
export function dockerContainer(launch: Launch, { source, isPodman }: ContainerBodyOptions): Record<string, unknown> {
  const { cores, memoryBytes, gpus } = launch.limits;
  return {
    Image: launch.image,
    ...(launch.command.length > 0 ? { Cmd: launch.command } : {}),
    Env: Object.entries(launch.env).map(([name, value]) => `${name}=${value}`),
    Labels: { [KEY_LABEL]: launch.key, [CLUSTER_LABEL]: launch.clusterID },
    HostConfig: {
      // Networks are not isolated: a container listens on the port that it was given (protocol, "Ports").
      NetworkMode: 'host',
      NanoCpus: cores * 1e9,
      Memory: memoryBytes,
      MemorySwap: memoryBytes,
      Mounts: launch.mounts.map((mount) => ({ Type: 'bind', Source: source(mount), Target: mount.target })),
      // Complete from the first byte: after a restart of ours the log is read again and what we have is skipped.
      // `json-file` replaces what is no UTF-8; `local` would keep it, but loses the newline of a line over 16 KiB.
      LogConfig: { Type: isPodman ? 'k8s-file' : 'json-file', Config: {} },
      RestartPolicy: { Name: 'no' },
      ...(gpus > 0 ? { DeviceRequests: [{ Driver: '', Count: gpus, Capabilities: [['gpu']] }] } : {}),
    },
  };
}

interface ContainerBodyOptions {
  /** The path under which the daemon finds a mount. */
  readonly source: (mount: Mount) => string;
  readonly isPodman: boolean;
}
