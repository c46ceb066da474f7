import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceConfig } from '../config/service-config.ts';
import { randomID } from '../random-id.ts';
import { openLocalAuthority } from './local-authority.ts';
import { type Certificate, createPortProxy } from './port-proxy.ts';
import type { Upstream } from './route-table.ts';

/** What containers' ports are exposed through. Hosts are those that `hostFor` gave. */
export interface PortExposure {
  /** A host that nobody had before, for a port of this name; with the public port where that is not HTTPS's own. */
  hostFor(portName: string): string;
  add(host: string, upstream: Upstream): void;
  /** From the moment this returns nothing reaches the upstream any more. */
  remove(host: string): void;
  /** Starts to serve; before, routes can be added but not used. */
  listen(): Promise<void>;
  close(): Promise<void>;
}

const HTTPS_PORT = 443;
/** A DNS label has 63 characters, of which 16 are random and one is a hyphen. */
const MAX_NAME = 46;

/** The port proxy as configured, with its certificate: the operator's, or one of a local authority. */
export async function openPortProxy(
  config: NonNullable<ServiceConfig['ports']>,
  options: { root: string; now: number },
): Promise<PortExposure> {
  const { domain } = config;
  const proxy = createPortProxy({ certificate: await certificateOf(config, options) });
  let suffix = renderPort(config.publicPort ?? config.port);
  const bare = (host: string) => host.replace(/:\d+$/, '');
  return {
    hostFor: (portName) =>
      `${randomID(16)}-${portName.slice(0, MAX_NAME).replace(/-+$/, '') || 'port'}.${domain}${suffix}`,
    add: (host, upstream) => proxy.routes.add(bare(host), upstream),
    remove: (host) => proxy.routes.remove(bare(host)),
    async listen() {
      const { port } = await proxy.listen({ host: config.host, port: config.port });
      if (config.publicPort === undefined) suffix = renderPort(port);
    },
    close: () => proxy.close(),
  };
}

function certificateOf(
  { domain, tls }: NonNullable<ServiceConfig['ports']>,
  { root, now }: { root: string; now: number },
): Promise<Certificate> | Certificate {
  if (tls === undefined) return openLocalAuthority(join(root, 'authority'), { domain, now });
  return { cert: readFileSync(tls.certFile, 'utf8'), key: readFileSync(tls.keyFile, 'utf8') };
}

function renderPort(port: number): string {
  return port === HTTPS_PORT ? '' : `:${port}`;
}
