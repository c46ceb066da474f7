import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { onTestFinished } from 'vitest';

/** What a container might serve: pages, a stream of events, uploads, a WebSocket that says everything twice. */
export interface WebApplication {
  readonly port: number;
  /** The requests that arrived, head only. */
  readonly seen: { method: string; url: string; headers: IncomingMessage['headers']; raw: string[] }[];
  /** What the page in a browser reported when it was done. */
  readonly report: Promise<unknown>;
  readonly server: Server;
}

const PAGE = `<!doctype html><title>app</title><script>
const done = {};
const events = new EventSource('/events');
const socket = new WebSocket('wss://' + location.host + '/socket');
Promise.all([
  new Promise((resolve) => { events.onmessage = (event) => { events.close(); resolve(event.data); }; }),
  new Promise((resolve) => { socket.onmessage = (event) => resolve(event.data); socket.onopen = () => socket.send('twice'); }),
  fetch('/upload', { method: 'POST', body: new Uint8Array(3000000) }).then((reply) => reply.text()),
]).then((all) => fetch('/report', { method: 'POST', body: JSON.stringify({ all, secure: isSecureContext, host: location.host }) }));
</script>`;

/** Starts one on a port of its own; it is closed when the test has finished. */
export async function openWebApplication(): Promise<WebApplication> {
  const seen: WebApplication['seen'] = [];
  let reported: (value: unknown) => void = () => undefined;
  const report = new Promise<unknown>((resolve) => {
    reported = resolve;
  });
  const server = createServer(async (request, reply) => {
    const { method = '', url = '', headers, rawHeaders: raw } = request;
    seen.push({ method, url, headers, raw });
    if (url === '/') return reply.setHeader('content-type', 'text/html').end(PAGE);
    if (url === '/events') {
      reply.writeHead(200, { 'content-type': 'text/event-stream' });
      return reply.write('data: first\n\n');
    }
    if (url === '/cookies') return reply.setHeader('set-cookie', ['a=1', 'b=2']).end();
    if (url === '/domains') {
      const domains = [
        'Domain=ports.test',
        'domain = .ports.test ',
        'DOMAIN=web.ports.test',
        'Domain="ports.test"',
        'Domain',
      ];
      const cookies = domains.map((domain, i) => `c${i}=v=; Path=/;${domain}; Secure;HttpOnly`);
      return reply.setHeader('set-cookie', [...cookies, '__Host-d=e; Path=/; Secure', 'f=";Domain=x"; Path=/']).end();
    }
    if (url === '/early') return reply.writeHead(413).end('too much');
    if (url === '/broken') return request.socket.destroy();
    if (url === '/headers') return reply.end(JSON.stringify(headers));
    let size = 0;
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (url === '/report') chunks.push(chunk);
    }
    if (url === '/report') reported(JSON.parse(Buffer.concat(chunks).toString()));
    return reply.end(`${size} bytes`);
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    seen.push({ method: 'UPGRADE', url: request.url ?? '', headers: request.headers, raw: request.rawHeaders });
    if (request.url !== '/socket') {
      socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno');
      return;
    }
    acceptWebSocket(request, socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, seen, report, server };
}

/** As much of RFC 6455 as one short text message needs. */
function acceptWebSocket(request: IncomingMessage, socket: Duplex): void {
  const accept = createHash('sha1')
    .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');
  socket.on('error', () => socket.destroy());
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  socket.on('data', (frame: Buffer) => {
    if ((frame[0] as number) !== 0x81) return;
    const length = (frame[1] as number) & 0x7f;
    const mask = frame.subarray(2, 6);
    const text = frame.subarray(6, 6 + length).map((byte, index) => byte ^ (mask[index % 4] as number));
    socket.write(Buffer.concat([Buffer.from([0x81, length * 2]), text, text]));
  });
}
