import { own } from '@sluice/client';
import type { ContainerRow } from '../containers/container-row.ts';
import type { PortExposure } from '../proxy/open-port-proxy.ts';

/** The hosts under which a cluster's containers can be reached now; nothing happens where the service exposes no ports. */
export class ExposedHosts {
  readonly #exposure: PortExposure | undefined;
  readonly #hosts = new Set<string>();

  constructor(exposure: PortExposure | undefined) {
    this.#exposure = exposure;
  }

  /** Those of a container, once it is known where it runs; again: no effect. */
  add(row: ContainerRow): void {
    for (const [name, host] of Object.entries(row.hosts)) {
      const port = own(row.ports, name);
      if (port === undefined || row.host === undefined || this.#hosts.has(host)) continue;
      this.#hosts.add(host);
      this.#exposure?.add(host, { host: row.host, port });
    }
  }

  /** Nobody is led to the container any more when it returns. */
  remove(row: ContainerRow): void {
    for (const host of Object.values(row.hosts)) if (this.#hosts.delete(host)) this.#exposure?.remove(host);
  }
}
