import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { request as openRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { onTestFinished } from 'vitest';
import { type LocalCertificate, openLocalAuthority } from '../../src/proxy/local-authority.ts';
import { createPortProxy, type PortProxy } from '../../src/proxy/port-proxy.ts';

const DOMAIN = 'ports.test';

/** A proxy with a certificate of its own authority, on a port of its own. */
export interface ProxyRig {
  readonly proxy: PortProxy;
  readonly port: number;
  readonly certificate: LocalCertificate;
  readonly authority: string;
  send(
    method: string,
    url: string,
    options?: { headers?: Record<string, string | string[]>; body?: Uint8Array; serverName?: string },
  ): Promise<{ status: number; headers: IncomingHttpHeaders; text: string }>;
  /** A TLS connection, on which bytes are written by hand. */
  openRaw(serverName: string): Promise<TLSSocket>;
  /** Writes `text` on a connection of its own and gives the reply up to the connection's end, or until it matches. */
  sendRaw(serverName: string, text: string, until?: RegExp): Promise<string>;
}

/** Opens one; it is closed when the test has finished. */
export async function openProxyRig(): Promise<ProxyRig> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-proxy-'));
  const certificate = await openLocalAuthority(directory, { domain: DOMAIN });
  const proxy = createPortProxy({ certificate });
  const { port } = await proxy.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    await proxy.close();
    rmSync(directory, { recursive: true });
  });
  const authority = readFileSync(certificate.authorityPath, 'utf8');
  const openRaw = (serverName: string) =>
    new Promise<TLSSocket>((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, servername: serverName, ca: authority }, () => resolve(socket));
      socket.on('error', reject);
    });
  return {
    proxy,
    port,
    certificate,
    authority,
    openRaw,
    async sendRaw(serverName, text, until) {
      const socket = await openRaw(serverName);
      let reply = '';
      return new Promise<string>((resolve) => {
        socket.on('data', (chunk: Buffer) => {
          reply += chunk.toString();
          if (until?.test(reply)) socket.destroy();
        });
        socket.on('close', () => resolve(reply));
        socket.write(text);
      });
    },
    send: (method, url, options = {}) => {
      const { hostname, pathname, search } = new URL(url);
      const { headers = {}, body, serverName = hostname } = options;
      return new Promise((resolve, reject) => {
        const sent = openRequest(
          {
            host: '127.0.0.1',
            port,
            method,
            path: pathname + search,
            headers: { host: hostname, ...headers },
            servername: serverName,
            ca: authority,
            agent: false,
          },
          (reply) => {
            const chunks: Buffer[] = [];
            reply.on('data', (chunk: Buffer) => chunks.push(chunk));
            reply.on('error', reject);
            reply.on('end', () => {
              const text = Buffer.concat(chunks).toString();
              resolve({ status: reply.statusCode ?? 0, headers: reply.headers, text });
            });
          },
        );
        sent.on('error', reject);
        sent.end(body);
      });
    },
  };
}
