import type { IncomingMessage } from 'node:http';

/** Headers that apply only to a single connection. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Headers that only the proxy sets. Those of clients are dropped, so that applications can trust them. */
const OURS = /^(forwarded|x-forwarded-.*|x-real-ip)$/;

/**
 * The headers for the application: those of the client, as pairs in their original order, followed by address, protocol and
 * host of the request.
 */
export function requestHeaders(request: IncomingMessage): string[] {
  // For an application behind a gateway such as WSGI, `X_Real_IP` is the same name.
  const headers = passedOn(request, (name) => OURS.test(name.replaceAll('_', '-')) || name === 'expect');
  const address = request.socket.remoteAddress ?? '';
  const host = request.headers.host ?? '';
  headers.push('X-Forwarded-For', address, 'X-Forwarded-Proto', 'https', 'X-Forwarded-Host', host);
  if (request.headers['transfer-encoding'] !== undefined) headers.push('Transfer-Encoding', 'chunked');
  return headers;
}

/** The headers of an application's response that are sent to the client. */
export function replyHeaders(reply: IncomingMessage): string[] {
  const headers = passedOn(reply, () => false);
  return headers.map((text, index) =>
    index % 2 === 1 && headers[index - 1]?.toLowerCase() === 'set-cookie' ? withoutDomain(text) : text,
  );
}

/**
 * Restricts a cookie to the application's own host. With a domain, it would be sent to the hosts of all other containers, or
 * could replace their cookies. Splits at every semicolon, even quoted ones, as browsers do.
 */
function withoutDomain(cookie: string): string {
  const [pair = '', ...attributes] = cookie.split(';');
  const kept = attributes.filter((attribute) => attribute.split('=', 1)[0]?.trim().toLowerCase() !== 'domain');
  return [pair, ...kept].join(';');
}

function passedOn(message: IncomingMessage, drop: (name: string) => boolean): string[] {
  const named = String(message.headers.connection ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase());
  // A client that lists these as hop-by-hop tries to make the application see another length or host than the proxy.
  const dropped = new Set(named.filter((name) => !['host', 'content-length', 'content-type', 'close'].includes(name)));
  const headers: string[] = [];
  for (let index = 0; index < message.rawHeaders.length; index += 2) {
    const name = message.rawHeaders[index] as string;
    const key = name.toLowerCase();
    if (HOP_BY_HOP.has(key) || dropped.has(key) || drop(key)) continue;
    headers.push(name, message.rawHeaders[index + 1] as string);
  }
  return headers;
}
