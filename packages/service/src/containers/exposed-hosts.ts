import { own } from '@sluice/client';
import type { Logger } from 'pino';
import type { PortExposure } from '../proxy/open-port-proxy.ts';
import { createPortOwner, type PortOwner } from '../proxy/port-owner.ts';
import type { ContainerRow } from '../store/container-row.ts';

/** What `ExposedHosts` works on. */
export interface ExposedHostsOptions {
  /** Undefined if the service exposes no ports; `add` and `remove` then have no effect. */
  readonly exposure: PortExposure | undefined;
  /** The engine's lookup of a container's process; undefined if its containers do not run on this machine. */
  readonly findProcess: ((launchKey: string) => Promise<number | undefined>) | undefined;
  /** Whether the service has more than one account. */
  readonly isShared: () => boolean;
  readonly log: Logger;
}

const UNKNOWN =
  'could not serve an exposed port: the service has no permission to see which container listens on it (docs/serve.md, Exposed ports)';

/** The public hosts of a cluster's running containers. */
export class ExposedHosts {
  readonly #options: ExposedHostsOptions;
  readonly #hosts = new Set<string>();

  constructor(options: ExposedHostsOptions) {
    this.#options = options;
  }

  /** Exposes a container's ports if the host on which it runs is known. Idempotent. */
  add(row: ContainerRow): void {
    const findListener = this.#portOwner(row);
    for (const [name, host] of Object.entries(row.hosts)) {
      const port = own(row.ports, name);
      if (port === undefined || row.host === undefined || this.#hosts.has(host)) continue;
      this.#hosts.add(host);
      this.#options.exposure?.add(host, { host: row.host, port, ...(findListener && { findListener }) });
    }
  }

  /** When it returns, no connection reaches the container. */
  remove(row: ContainerRow): void {
    for (const host of Object.values(row.hosts)) if (this.#hosts.delete(host)) this.#options.exposure?.remove(host);
  }

  /** If the service has several accounts, an unknown owner counts as another account's. */
  #portOwner(row: ContainerRow): PortOwner | undefined {
    const { findProcess, isShared, log } = this.#options;
    if (findProcess === undefined || Object.keys(row.hosts).length === 0) return undefined;
    const owner = createPortOwner(() => findProcess(row.launchKey));
    let isLogged = false;
    return async (port) => {
      const look = await owner(port);
      if (look.by !== 'unknown') return look;
      if (!isShared()) return { ...look, by: 'container' };
      if (!isLogged) log.warn({ cluster: row.clusterID, container: row.id }, UNKNOWN);
      isLogged = true;
      return { ...look, by: 'another' };
    };
  }
}
