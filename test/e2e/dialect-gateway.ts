import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';

/** What a gateway does with a request to create a container, in order; afterwards it passes them on. */
export type CreateFate =
  /** Its own page, and nothing is passed on. */
  | 'page'
  /** The service creates the container, and the gateway's own page takes the place of the reply. */
  | 'pageAfter'
  /** The service creates the container, and no reply comes. */
  | 'hang';

/** A gateway before a real service, which makes it speak another dialect of the protocol. */
export interface DialectGateway {
  readonly url: string;
  /** IDs of the containers that the service has created, one for each time. */
  readonly created: readonly string[];
  /** Requests that were answered with a page, or not at all. */
  readonly spoiled: number;
  /** Replies about containers that were changed. */
  readonly rewritten: number;
  close(): Promise<void>;
}

const PAGE = '<html><head><title>403 Forbidden</title></head><body>nginx</body></html>';
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'host']);

type Fields = Record<string, unknown>;

export async function createDialectGateway(target: string, fates: readonly CreateFate[] = []): Promise<DialectGateway> {
  const left = [...fates];
  const created: string[] = [];
  let spoiled = 0;
  let rewritten = 0;

  /** Local time without its zone, to the second, and another run each time. */
  function rewrite(container: Fields): Fields {
    rewritten++;
    const at = Date.parse(String(container.createTime));
    const createTime = new Date(Math.round(at / 1000) * 1000 + 8 * 3_600_000).toISOString().slice(0, 19);
    return { ...container, createTime, runID: `run-${rewritten}` };
  }

  function rewriteReply(url: URL, body: Fields): Fields {
    if (Array.isArray(body.containers)) return { ...body, containers: body.containers.map(rewrite) };
    return /\/containers\/[^/:]+$/.test(url.pathname) && 'phase' in body ? rewrite(body) : body;
  }

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', target);
    const isCreate = incoming.method === 'POST' && url.pathname.endsWith('/containers');
    const fate = isCreate ? left.shift() : undefined;
    if (fate) spoiled++;
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    if (fate === 'page') return sendPage(outgoing);
    const headers = Object.fromEntries(Object.entries(incoming.headers).filter(([name]) => !HOP_BY_HOP.has(name)));
    const method = incoming.method as 'GET' | 'POST' | 'DELETE';
    const reply = await request(url, { method, headers, ...(parts.length > 0 && { body: Buffer.concat(parts) }) });
    const text = await reply.body.text();
    if (isCreate && reply.statusCode === 200) created.push(url.searchParams.get('containerID') ?? '');
    if (fate === 'pageAfter') return sendPage(outgoing);
    if (fate === 'hang') return;
    for (const [name, value] of Object.entries(reply.headers)) {
      if (value !== undefined && !HOP_BY_HOP.has(name)) outgoing.setHeader(name, value);
    }
    if (isCreate && reply.statusCode === 409) {
      // Some services say no more of a second create than that the request is bad.
      outgoing.writeHead(400).end(JSON.stringify({ code: 400, message: 'the container cannot be created' }));
      return;
    }
    const isJson = incoming.method === 'GET' && text.startsWith('{');
    outgoing.writeHead(reply.statusCode).end(isJson ? JSON.stringify(rewriteReply(url, JSON.parse(text))) : text);
  }

  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    created,
    get spoiled() {
      return spoiled;
    },
    get rewritten() {
      return rewritten;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function sendPage(outgoing: ServerResponse): void {
  outgoing.writeHead(403, { 'content-type': 'text/html' }).end(PAGE);
}
