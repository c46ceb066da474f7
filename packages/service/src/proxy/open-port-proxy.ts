import { join } from 'node:path';
import type { Logger } from 'pino';
import type { ServiceConfig } from '../config/service-config.ts';
import type { Clock } from '../host/clock.ts';
import { randomID } from '../host/random-id.ts';
import { type KeptCertificate, keepCertificate } from './keep-certificate.ts';
import { openLocalAuthority } from './local-authority.ts';
import { createPortProxy } from './port-proxy.ts';
import { FILES_LOOK_MS, readCertificate } from './read-certificate.ts';
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
  /** Looks for a newer certificate now rather than in its time. */
  refreshCertificate(): Promise<boolean>;
  close(): Promise<void>;
}

const HTTPS_PORT = 443;
/** Our own certificates are renewed a month before they end. */
const AUTHORITY_LOOK_MS = 86_400_000;
/** A DNS label has 63 characters, of which 16 are random and one is a hyphen. */
const MAX_NAME = 46;

/** The port proxy as configured, with its certificate: the operator's, or one of a local authority. */
export async function openPortProxy(
  config: NonNullable<ServiceConfig['ports']>,
  options: { root: string; clock: Clock; log: Logger },
): Promise<PortExposure> {
  const { domain } = config;
  const certificate = await keptCertificate(config, options);
  const proxy = createPortProxy({ certificate: certificate.current() });
  certificate.onRenewed(proxy.setCertificate);
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
    refreshCertificate: certificate.refresh,
    close() {
      certificate.stop();
      return proxy.close();
    },
  };
}

function keptCertificate(
  { domain, tls }: NonNullable<ServiceConfig['ports']>,
  { root, clock, log }: { root: string; clock: Clock; log: Logger },
): Promise<KeptCertificate> {
  if (tls !== undefined) {
    return keepCertificate({ read: () => readCertificate(tls), everyMs: FILES_LOOK_MS, clock, log });
  }
  const read = () => openLocalAuthority(authorityDirectory(root), { domain, now: clock.now() });
  return keepCertificate({ read, everyMs: AUTHORITY_LOOK_MS, clock, log });
}

function authorityDirectory(root: string): string {
  return join(root, 'authority');
}

/** The certificate for clients to trust where the service with this root signs for itself; made when it first serves. */
export function authorityPath(root: string): string {
  return join(authorityDirectory(root), 'authority.pem');
}

function renderPort(port: number): string {
  return port === HTTPS_PORT ? '' : `:${port}`;
}
