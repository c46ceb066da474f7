import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { VolumeSession } from '../../../src/volumes/volume-access.ts';
import { createWebDavHandler, type WebDavOptions } from '../../../src/volumes/webdav/webdav-handler.ts';
import { FakeVolumeAccess } from '../fake-volume-access.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

/** A WebDAV server with the volume `data` (login `data`, `secret-data`), on a port of its own. */
export interface DavRig {
  readonly access: FakeVolumeAccess;
  readonly session: VolumeSession;
  readonly server: Server;
  readonly port: number;
  readonly url: string;
  /** What the handler reported as not the client's fault. */
  readonly errors: unknown[];
  readonly authorization: string;
  send(
    method: string,
    path: string,
    options?: { headers?: Record<string, string>; body?: string | Uint8Array },
  ): Promise<{ status: number; headers: IncomingHttpHeaders; text: string }>;
}

/** Opens one; it is closed when the test has finished. */
export async function openDavRig(options: WebDavOptions = {}): Promise<DavRig> {
  const access = new FakeVolumeAccess(temporaryDirectory());
  const session = access.add('data');
  const errors: unknown[] = [];
  const handler = createWebDavHandler(access, { onError: (error) => errors.push(error), ...options });
  const server = createServer(handler);
  server.requestTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    handler.close();
    server.closeAllConnections();
    return new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const authorization = `Basic ${Buffer.from('data:secret-data').toString('base64')}`;
  return {
    access,
    session,
    server,
    port,
    url,
    errors,
    authorization,
    send: (method, path, options = {}) =>
      sendRequest({ port, method, path, headers: { authorization, ...options.headers }, body: options.body }),
  };
}

/** One request, its target sent as it is: no client in between tidies it up. */
function sendRequest(options: {
  port: number;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | Uint8Array | undefined;
}): Promise<{ status: number; headers: IncomingHttpHeaders; text: string }> {
  const { body, ...rest } = options;
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', agent: false, ...rest }, (reply) => {
      const chunks: Buffer[] = [];
      reply.on('data', (chunk: Buffer) => chunks.push(chunk));
      reply.on('error', reject);
      reply.on('end', () =>
        resolve({ status: reply.statusCode ?? 0, headers: reply.headers, text: Buffer.concat(chunks).toString() }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
