import type { FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.ts';

const NAME = 'sluice-session';
const TOKEN = /^[A-Za-z0-9_.~+/=-]{1,512}$/;

type Place = Pick<FastifyRequest, 'protocol'>;

/** With TLS, browsers accept this name only from this host, with TLS, and for all of its paths. */
function nameFor({ protocol }: Place): string {
  return protocol === 'https' ? `__Host-${NAME}` : NAME;
}

/**
 * The cookie that keeps a user logged in; without a token, it ends the session. Without TLS, only pages below `/ui` receive
 * it, on each port of the host.
 */
export function renderCookie(place: Place, token?: string): string {
  const scope = place.protocol === 'https' ? 'Path=/; Secure' : 'Path=/ui';
  const age = token === undefined ? '; Max-Age=0' : '';
  return `${nameFor(place)}=${token ?? ''}; ${scope}; HttpOnly; SameSite=Strict${age}`;
}

/** The token of the session of a request; undefined if it has none. */
export function readCookie(request: Place & Pick<FastifyRequest, 'headers'>): string | undefined {
  const name = `${nameFor(request)}=`;
  const cookies = (request.headers.cookie ?? '').split(';').map((one) => one.trim());
  const token = cookies.find((one) => one.startsWith(name))?.slice(name.length);
  return token !== undefined && TOKEN.test(token) ? token : undefined;
}

/** Throws if a page of another origin may have sent a request that a cookie authenticates. */
export function requireOwnOrigin({ headers, method, host }: FastifyRequest): void {
  const isSafe = method === 'GET' || method === 'HEAD';
  const site = headers['sec-fetch-site'];
  const isNavigation = isSafe && headers['sec-fetch-mode'] === 'navigate';
  const isForeign = site !== undefined && site !== 'same-origin' && site !== 'none' && !isNavigation;
  const { origin } = headers;
  const isOwn = origin === undefined ? isSafe : URL.parse(origin)?.host === host;
  if (!isForeign && isOwn) return;
  throw new ApiError(403, 'ORIGIN_INVALID', 'a page of another origin sent the request');
}
