import type { IncomingMessage } from 'node:http';
import type { Route, RouteTable } from './route-table.ts';

/** The route of a request, or why it is rejected. */
export type CheckedRequest =
  | { readonly ok: true; readonly route: Route; readonly target: string }
  | { readonly ok: false; readonly status: number; readonly message: string };

const HOST = /^([a-z0-9](?:[a-z0-9.-]{0,252}))(?::\d{1,5})?$/;

/**
 * Checks everything in a request that could name a host or end a body, and rejects requests that the application could
 * interpret differently from the proxy. `serverName` is the name that the client requested in the TLS handshake.
 */
export function checkRequest(
  request: IncomingMessage,
  options: { routes: RouteTable; serverName: string | undefined },
): CheckedRequest {
  // The response contains the request's headers, so a script could read HttpOnly cookies.
  if (request.method === 'TRACE') return rejection(405, 'the method TRACE is not allowed');
  const framing = framingFault(request);
  if (framing !== undefined) return rejection(400, framing);
  const hosts = valuesOf(request, 'host');
  if (hosts.length !== 1) return rejection(400, `the request has ${hosts.length} Host headers instead of one`);
  const host = hostName(hosts[0] as string);
  if (host === undefined) return rejection(400, 'the Host header is malformed');
  const target = targetOf(request, hosts[0] as string);
  if (target === undefined) return rejection(400, 'the request target does not match the Host header');
  if (options.serverName !== undefined && hostName(options.serverName.toLowerCase()) !== host) {
    return rejection(421, 'the connection was established for another host');
  }
  const route = options.routes.find(host);
  if (route === undefined) return rejection(421, 'no running container exposes a port under this host');
  return { ok: true, route, target };
}

function rejection(status: number, message: string): CheckedRequest {
  return { ok: false, status, message };
}

/** Node's parser already rejects most of these; these checks do not depend on its settings. */
function framingFault(request: IncomingMessage): string | undefined {
  const lengths = valuesOf(request, 'content-length');
  const encodings = valuesOf(request, 'transfer-encoding');
  if (lengths.length > 1) return 'the request has several Content-Length headers';
  if (encodings.length > 0 && lengths.length > 0) return 'the request has both Content-Length and Transfer-Encoding';
  if (encodings.length > 1 || (encodings[0] !== undefined && encodings[0].trim().toLowerCase() !== 'chunked')) {
    return 'the request has a Transfer-Encoding other than chunked';
  }
  if (encodings.length > 0 && request.httpVersion !== '1.1')
    return 'the request is chunked, which HTTP/1.0 does not support';
  return undefined;
}

function valuesOf(request: IncomingMessage, name: string): string[] {
  const { rawHeaders } = request;
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
}

/** In lower case, without port and trailing dot. */
function hostName(header: string): string | undefined {
  return HOST.exec(header.trim().toLowerCase())?.[1]?.replace(/\.$/, '');
}

/** The path to request from the application; undefined if the target names another host than the Host header. */
function targetOf(request: IncomingMessage, host: string): string | undefined {
  const url = request.url ?? '';
  if (url.startsWith('/')) return url;
  if (url === '*' && request.method === 'OPTIONS') return url;
  const absolute = /^https?:\/\/([^/?#]*)(.*)$/i.exec(url);
  if (absolute === null || absolute[1]?.toLowerCase() !== host.trim().toLowerCase()) return undefined;
  const rest = absolute[2] as string;
  return rest.startsWith('/') ? rest : `/${rest}`;
}
