import { join } from 'node:path';
import type { Logger } from 'pino';
import type { ServiceConfig } from '../config/service-config.ts';
import type { Clock } from '../protocol/clock.ts';
import { randomId } from '../protocol/random-id.ts';
import { type KeptCertificate, keepCertificate } from './keep-certificate.ts';
import { openLocalAuthority } from './local-authority.ts';
import { createPortProxy } from './port-proxy.ts';
import { FILES_LOOK_MS, readCertificate } from './read-certificate.ts';
import type { Upstream } from './route-table.ts';

/** Exposes ports of containers. Hosts are those returned by `hostFor`. */
export interface PortExposure {
  /** A new unique host for a port of this name, with the public port unless it is HTTPS's default. */
  hostFor(portName: string): string;
  add(host: string, upstream: Upstream): void;
  /** After this returns, nothing reaches the upstream. */
  remove(host: string): void;
  /** Starts to serve. Routes can be added before. */
  listen(): Promise<void>;
  /** Reloads the certificate immediately instead of at the next interval. */
  refreshCertificate(): Promise<boolean>;
  close(): Promise<void>;
}

const HTTPS_PORT = 443;
/** Certificates of the local authority are renewed a month before they expire. */
const AUTHORITY_LOOK_MS = 86_400_000;
/** A DNS label has at most 63 characters: 16 are random and one is a hyphen. */
const MAX_NAME = 46;

/** Opens the port proxy with the configured certificate, or with one of a local authority. */
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
      `${randomId(16)}-${portName.slice(0, MAX_NAME).replace(/-+$/, '') || 'port'}.${domain}${suffix}`,
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

/**
 * Path of the certificate that clients must trust if the service with this data root uses a local authority. Created when
 * the proxy is first opened.
 */
export function authorityPath(root: string): string {
  return join(authorityDirectory(root), 'authority.pem');
}

function renderPort(port: number): string {
  return port === HTTPS_PORT ? '' : `:${port}`;
}
