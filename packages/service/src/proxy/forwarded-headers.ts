import type { IncomingMessage } from 'node:http';

/** Meant for the next connection only. */
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

/** What only the proxy may say; a client's own is dropped, so that applications can trust it. */
const OURS = /^(forwarded|x-forwarded-.*|x-real-ip)$/;

/** What an application is sent: the client's own headers, as pairs in the order of the wire, and who asked for what. */
export function requestHeaders(request: IncomingMessage): string[] {
  // To an application behind a gateway such as WSGI, `X_Real_IP` is the same name.
  const headers = passedOn(request, (name) => OURS.test(name.replaceAll('_', '-')) || name === 'expect');
  const address = request.socket.remoteAddress ?? '';
  const host = request.headers.host ?? '';
  headers.push('X-Forwarded-For', address, 'X-Forwarded-Proto', 'https', 'X-Forwarded-Host', host);
  if (request.headers['transfer-encoding'] !== undefined) headers.push('Transfer-Encoding', 'chunked');
  return headers;
}

/** What a client is sent of an application's reply. */
export function replyHeaders(reply: IncomingMessage): string[] {
  const headers = passedOn(reply, () => false);
  return headers.map((text, index) =>
    index % 2 === 1 && headers[index - 1]?.toLowerCase() === 'set-cookie' ? withoutDomain(text) : text,
  );
}

/**
 * A cookie of the application's own host only: with a domain, it would be sent to the hosts of all other containers, or
 * take the place of their own. Cut at every semicolon, quoted ones too, as browsers do.
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
  // Whoever lists these as hop-by-hop wants the other side to read another length or host than we do.
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
