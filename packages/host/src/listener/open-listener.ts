import type { FastifyInstance } from 'fastify';
import { protectListener } from './protect-listener.ts';
import { createSessions } from './sessions.ts';
import { addStaticFiles, type StaticFile } from './static-files.ts';

/** A server for one user of this machine, on a loopback address. */
export interface ListenerOptions {
  /** A loopback address: others are refused. */
  readonly host: string;
  /** 0: a free port. */
  readonly port: number;
  /** The files of the dashboard, by path. */
  readonly files: ReadonlyMap<string, StaticFile>;
  /** Adds further routes, to which the same protection applies. */
  readonly addRoutes: (server: FastifyInstance) => Promise<void>;
}

/** A listener that accepts requests. */
export interface Listener {
  /** Without a token. */
  readonly url: string;
  /** Opens a session in one browser; every call returns another link, which works once. */
  createLink(): string;
  /** Authenticates programs, as a bearer token. */
  readonly token: string;
  /** Ends all connections. */
  close(): Promise<void>;
}

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost']);

/** Whether a listener may use this address: no other machine can connect to it. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.has(host);
}

/** Listens on a loopback address. Throws if the address is another one or in use. */
export async function openListener({ host, port, files, addRoutes }: ListenerOptions): Promise<Listener> {
  if (!isLoopback(host)) throw new Error(`could not listen on ${host}: it is not a loopback address`);
  // Loaded only here: commands that use the other parts of the package start faster.
  const { default: Fastify } = await import('fastify');
  const server = Fastify({ forceCloseConnections: true, trustProxy: false });
  const sessions = createSessions();
  const address = { port: 0 };
  protectListener(server, { sessions, address });
  addStaticFiles(server, files);
  await addRoutes(server);
  await server.listen({ host, port });
  const bound = server.server.address();
  if (bound === null || typeof bound === 'string') throw new Error(`could not listen on ${host}`);
  address.port = bound.port;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${bound.port}/`;
  return {
    url,
    createLink: () => `${url}?token=${sessions.createLinkToken()}`,
    token: sessions.token,
    close: () => server.close(),
  };
}
