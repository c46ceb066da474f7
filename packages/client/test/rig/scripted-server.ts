import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as the server saw it. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Handler = (seen: Seen, reply: ServerResponse, number: number) => void | Promise<void>;

export interface ScriptedServer {
  readonly url: string;
  readonly seen: Seen[];
  /** Those whose URL contains `part`. */
  matching(part: string): Seen[];
  close(): Promise<void>;
}

/** A server whose every reply is the test's own; `number` counts requests from 1. */
export async function scriptedServer(handle: Handler, listen: { socketPath?: string } = {}): Promise<ScriptedServer> {
  const seen: Seen[] = [];
  const server: Server = createServer((request, reply) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('error', () => {});
    request.on('end', () => {
      const body = Buffer.concat(parts).toString();
      const it = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body };
      seen.push(it);
      void handle(it, reply, seen.length);
    });
  });
  if (listen.socketPath === undefined) server.listen(0, '127.0.0.1');
  else server.listen(listen.socketPath);
  await once(server, 'listening');
  const port = listen.socketPath === undefined ? (server.address() as AddressInfo).port : 80;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    matching: (part) => seen.filter((it) => it.url.includes(part)),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Replies with JSON. */
export function json(reply: ServerResponse, body: unknown, status = 200, headers: Record<string, string> = {}): void {
  reply.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
