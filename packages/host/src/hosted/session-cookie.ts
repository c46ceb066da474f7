import type { FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.ts';

const NAME = 'sluice-session';
const TOKEN = /^[A-Za-z0-9_.~+/=-]{1,512}$/;

/** The cookie that keeps a user logged in; without a token, it ends the session. Only pages below `/ui` receive it. */
export function renderCookie({ protocol }: Pick<FastifyRequest, 'protocol'>, token?: string): string {
  const secure = protocol === 'https' ? '; Secure' : '';
  const age = token === undefined ? '; Max-Age=0' : '';
  return `${NAME}=${token ?? ''}; Path=/ui; HttpOnly; SameSite=Strict${secure}${age}`;
}

/** The token of the session of a request; undefined if it has none. */
export function readCookie({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  const cookies = (headers.cookie ?? '').split(';').map((one) => one.trim());
  const token = cookies.find((one) => one.startsWith(`${NAME}=`))?.slice(NAME.length + 1);
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
