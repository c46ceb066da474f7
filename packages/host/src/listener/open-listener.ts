import type { FastifyInstance } from 'fastify';
import { protectListener, withoutPlace } from './protect-listener.ts';
import { createSessions } from './sessions.ts';
import { addStaticFiles, type StaticFile } from './static-files.ts';

/** A server for one user of this machine, on a loopback address. */
export interface ListenerOptions {
  /** A loopback address: others are rejected. */
  readonly host: string;
  /** 0: a free port. */
  readonly port: number;
  /** The files of the dashboard, by path. */
  readonly files: ReadonlyMap<string, StaticFile>;
  /** Called with each link of `createLink` that has opened a session. */
  readonly onLinkUsed?: (link: string) => void;
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
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { host, port, files, addRoutes } = options;
  if (!isLoopback(host)) throw new Error(`could not listen on ${host}: it is not a loopback address`);
  // Loaded only here: commands that use the other parts of the package start faster.
  const { default: Fastify } = await import('fastify');
  const server = Fastify({
    forceCloseConnections: true,
    trustProxy: false,
    rewriteUrl: ({ url = '/' }) => withoutPlace(url),
    // As on a server. The protection depends on the route that is found, not on the path.
    routerOptions: { ignoreDuplicateSlashes: true, ignoreTrailingSlash: true },
  });
  const sessions = createSessions();
  const address = { port: 0 };
  let url = '';
  const linkOf = (token: string) => `${url}?token=${token}`;
  protectListener(server, { sessions, address, onLinkUsed: (token) => options.onLinkUsed?.(linkOf(token)) });
  addStaticFiles(server, files);
  await addRoutes(server);
  await server.listen({ host, port });
  const bound = server.server.address();
  if (bound === null || typeof bound === 'string') throw new Error(`could not listen on ${host}`);
  address.port = bound.port;
  url = `http://${host.includes(':') ? `[${host}]` : host}:${bound.port}/`;
  return {
    url,
    createLink: () => linkOf(sessions.createLinkToken()),
    token: sessions.token,
    close: () => server.close(),
  };
}
