import { createServer, type Server } from 'node:http';
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
    options?: { headers?: Record<string, string>; body?: string | Uint8Array | AsyncIterable<Uint8Array> },
  ): Promise<{ status: number; headers: Headers; text: string }>;
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
    async send(method, path, { headers = {}, body } = {}) {
      const init = {
        method,
        headers: { authorization, ...headers },
        ...(body === undefined ? {} : { body, duplex: 'half' }),
      };
      const reply = await fetch(url + path, init as RequestInit);
      return { status: reply.status, headers: reply.headers, text: await reply.text() };
    },
  };
}
