import { own } from '@sluice/client';
import type { Logger } from 'pino';
import type { PortExposure } from '../proxy/open-port-proxy.ts';
import { createPortOwner, type PortOwner } from '../proxy/port-owner.ts';
import type { ContainerRow } from '../store/container-row.ts';

export interface ExposedHostsOptions {
  readonly exposure: PortExposure | undefined;
  /** As the engine has it; absent where its containers are not processes of this machine. */
  readonly findProcess: ((launchKey: string) => Promise<number | undefined>) | undefined;
  /** Whether the service has more than one account. */
  readonly isShared: () => boolean;
  readonly log: Logger;
}

const UNKNOWN =
  'an exposed port is not served: this service may not see which container listens on it (docs/serve.md, Exposed ports)';

/** The hosts under which a cluster's containers can be reached now; nothing happens where the service exposes no ports. */
export class ExposedHosts {
  readonly #options: ExposedHostsOptions;
  readonly #hosts = new Set<string>();

  constructor(options: ExposedHostsOptions) {
    this.#options = options;
  }

  /** Those of a container, once it is known where it runs; again: no effect. */
  add(row: ContainerRow): void {
    const whoListens = this.#portOwner(row);
    for (const [name, host] of Object.entries(row.hosts)) {
      const port = own(row.ports, name);
      if (port === undefined || row.host === undefined || this.#hosts.has(host)) continue;
      this.#hosts.add(host);
      this.#options.exposure?.add(host, { host: row.host, port, ...(whoListens && { whoListens }) });
    }
  }

  /** No connection reaches the container any more when it returns. */
  remove(row: ContainerRow): void {
    for (const host of Object.values(row.hosts)) if (this.#hosts.delete(host)) this.#options.exposure?.remove(host);
  }

  /** Where there are several accounts, an unknown owner counts as another account's. */
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
