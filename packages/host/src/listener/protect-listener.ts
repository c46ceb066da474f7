import { isRunId } from '@sluice/home';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { renderNotice } from './notice-page.ts';
import type { Session, Sessions } from './sessions.ts';

/** What the protection of a listener depends on. */
export interface ProtectionOptions {
  readonly sessions: Sessions;
  /** The port is known when the server listens. */
  readonly address: { readonly port: number };
  /** Called with the token of each link that has opened a session. */
  readonly onLinkUsed: (linkToken: string) => void;
}

/** Headers of every reply to a browser. */
export const PAGE_HEADERS = {
  // No inline script or style, nothing from elsewhere, in no frame.
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route needs neither a session nor a token. */
    isPublic?: boolean;
  }
}

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** `/s/PLACE` of a session, before the path of the listener. */
const PLACE = /^\/s\/([\w-]+)(\/.*)$/s;

/** The path of the listener that a request means, without the place of its session. */
export function withoutPlace(url: string): string {
  return PLACE.exec(url)?.[2] ?? url;
}

/**
 * Accepts a request only if it names this listener as its host, so that a foreign name that resolves to a loopback address
 * is useless (DNS rebinding); if no page of another origin sent it; and if it has a session or a bearer token, unless its
 * route is public. A link with a token is exchanged for a session and leads to its path in the place of the session, without
 * the token. The listener must route by `withoutPlace`.
 */
export function protectListener(server: FastifyInstance, options: ProtectionOptions): void {
  const { sessions, address, onLinkUsed } = options;
  server.addHook('onRequest', async (request, reply) => {
    void reply.headers(PAGE_HEADERS);
    const hosts = ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${address.port}`);
    const fault = findForeign(request, hosts);
    if (fault !== undefined) return reject(request, reply, { code: 403, status: 'PERMISSION_DENIED', message: fault });
    const cookie = `sluice-session-${address.port}`;
    const link = readLink(request);
    if (link !== undefined) {
      const session = sessions.exchange(link.token);
      if (session !== undefined) onLinkUsed(link.token);
      return openSession(request, reply, { session, cookie, path: link.path });
    }
    if (request.routeOptions.config.isPublic === true) return undefined;
    if (isAuthenticated(request, { sessions, cookie })) return undefined;
    const message = 'this page needs the link that `sluice ui` prints; each link works once';
    return reject(request, reply, { code: 401, status: 'UNAUTHENTICATED', message });
  });
}

/** Why a request does not come from this machine's user at this address; undefined if it may. */
function findForeign({ headers, method }: FastifyRequest, hosts: readonly string[]): string | undefined {
  if (!hosts.includes(headers.host ?? '')) return 'the request names another host';
  const site = headers['sec-fetch-site'];
  const isNavigation = headers['sec-fetch-mode'] === 'navigate' && SAFE_METHODS.has(method);
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && !isNavigation) {
    return 'a page of another origin sent the request';
  }
  const { origin } = headers;
  if (origin !== undefined && origin !== `http://${headers.host}`) return 'a page of another origin sent the request';
  // A browser sends an origin with every request that changes something; programs use a token.
  if (origin === undefined && !SAFE_METHODS.has(method) && headers.authorization === undefined) {
    return 'the request has no origin';
  }
  return undefined;
}

function readLink({ method, url }: FastifyRequest): { readonly token: string; readonly path: string } | undefined {
  const [path = '', query] = url.split(/\?(.*)/s);
  const token = method === 'GET' && query !== undefined ? new URLSearchParams(query).get('token') : null;
  if (token === null) return undefined;
  const run = new URLSearchParams(query).get('run') ?? '';
  // Two slashes would begin the name of another host.
  return { token, path: `${path.replace(/^\/*/, '/')}${isRunId(run) ? `#/runs/${run}` : ''}` };
}

interface OpenedSession {
  /** Undefined: the link was not valid. */
  readonly session: Session | undefined;
  readonly cookie: string;
  readonly path: string;
}

async function openSession(
  request: FastifyRequest,
  reply: FastifyReply,
  { session, cookie, path }: OpenedSession,
): Promise<FastifyReply> {
  if (session === undefined) {
    const message =
      'this link was used already, or the process that printed it has ended; get another with `sluice ui`';
    return reject(request, reply, { code: 401, status: 'UNAUTHENTICATED', message });
  }
  const place = `/s/${session.place}`;
  void reply.header('set-cookie', `${cookie}=${session.cookie}; Path=${place}/; HttpOnly; SameSite=Strict`);
  void reply.header('cache-control', 'no-store');
  if (request.headers['sec-fetch-site'] !== 'cross-site') return reply.redirect(`${place}${path}`, 303);
  // The link is in a file that the browser has opened. It sends the cookie after a refresh, but not after a redirect.
  return reply.header('refresh', `0; url=${place}${path}`).type('text/html; charset=utf-8').send('<!doctype html>\n');
}

function isAuthenticated(
  { headers, originalUrl }: FastifyRequest,
  { sessions, cookie }: { readonly sessions: Sessions; readonly cookie: string },
): boolean {
  const [, bearer] = /^Bearer (.+)$/i.exec(headers.authorization ?? '') ?? [];
  if (bearer !== undefined) return sessions.isToken(bearer);
  const cookies = (headers.cookie ?? '').split(';').map((one) => one.trim());
  const session = cookies.find((one) => one.startsWith(`${cookie}=`))?.slice(cookie.length + 1);
  const [, place] = PLACE.exec(originalUrl) ?? [];
  return session !== undefined && place !== undefined && sessions.isSession({ cookie: session, place });
}

/** Programs get the error as JSON, a person who opens a page the same as a page. */
function reject(
  { headers, url }: FastifyRequest,
  reply: FastifyReply,
  error: { code: number; status: string; message: string },
): FastifyReply {
  void reply.code(error.code).header('cache-control', 'no-store');
  if (url.startsWith('/api/') || headers.accept?.includes('text/html') !== true) return reply.send(error);
  const message = `This page cannot be shown: ${error.message}.`;
  const advice =
    'Type sluice ui in a terminal, in the directory of the home or with --home, and open the link that it prints.';
  return reply.type('text/html; charset=utf-8').send(renderNotice({ message, advice }));
}
