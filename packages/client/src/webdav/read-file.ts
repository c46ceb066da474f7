import { backoffDelay } from '../backoff-delay.ts';
import type { Reply } from '../http/exchange.ts';
import { sendError } from '../http/send-error.ts';
import { BACKOFF, pause } from '../http/try-again.ts';
import { isServiceError, ServiceError } from '../service-error.ts';
import { type DavClient, discard } from './dav-client.ts';
import { volumePathSegments } from './volume-path.ts';

const FRUITLESS_TRIES = 4;

interface Part {
  readonly path: string;
  readonly start: number;
  /** Exclusive. */
  readonly end: number | undefined;
  readonly what: string;
}

/**
 * The bytes of a file. After a broken connection, the rest is requested again if a strong ETag proves that the file is
 * unchanged; otherwise the error is thrown.
 */
export async function readFile(
  dav: DavClient,
  { path, range }: { path: string; range: { start?: number; end?: number } },
): Promise<AsyncIterable<Uint8Array>> {
  volumePathSegments(path);
  const part: Part = { path, start: range.start ?? 0, end: range.end, what: `read ${JSON.stringify(path)}` };
  const first = await dav.again(() => open(dav, { part, etag: undefined }), part.what);
  return bytes(dav, { part, first });
}

/** The reply with an unread body, or undefined if the range begins after the end of the file. */
async function open(dav: DavClient, about: { part: Part; etag: string | undefined }): Promise<Reply | undefined> {
  const { path, start, end, what } = about.part;
  const empty = end !== undefined && end <= start;
  const whole = start === 0 && (end === undefined || empty);
  const last = end === undefined ? '' : String(empty ? start : end - 1);
  const reply = await dav.send({
    method: 'GET',
    path,
    headers: {
      ...(whole ? {} : { range: `bytes=${start}-${last}` }),
      ...(about.etag === undefined ? {} : { 'if-range': about.etag }),
    },
    what,
  });
  if (reply.statusCode === 416) return discard(reply, undefined);
  if (reply.statusCode !== 200 && reply.statusCode !== 206) throw await dav.rejection(reply, what);
  if (empty) {
    reply.body.on('error', () => {}).destroy();
    return undefined;
  }
  return reply;
}

async function* bytes(dav: DavClient, { part, first }: { part: Part; first: Reply | undefined }) {
  const etag = strongTag(first);
  let reply = first;
  let { start } = part;
  let fruitless = 0;
  while (reply !== undefined) {
    const before = start;
    try {
      for await (const piece of cut(reply, { part, start })) {
        start += piece.length;
        yield piece;
      }
      return;
    } catch (error) {
      const failure = sendError(error, part);
      fruitless = start > before ? 1 : fruitless + 1;
      if (etag === undefined || fruitless > FRUITLESS_TRIES || !isServiceError(failure, 'NO_REPLY')) throw failure;
      await pause(backoffDelay({ ...BACKOFF, random: dav.clock.random() }, fruitless), {
        clock: dav.clock,
        what: part.what,
      });
      const rest = { ...part, start };
      reply = await dav.again(() => open(dav, { part: rest, etag }), part.what);
      if (reply !== undefined && start > 0 && reply.statusCode !== 206) {
        reply.body.on('error', () => {}).destroy();
        throw new ServiceError('NO_REPLY', `could not ${part.what}: the file was replaced while it was read`);
      }
    }
  }
}

/** The requested bytes of a reply, even if the server ignored the range. */
async function* cut(reply: Reply, { part, start }: { part: Part; start: number }) {
  let at = reply.statusCode === 206 ? start : 0;
  for await (const piece of reply.body as AsyncIterable<Uint8Array>) {
    const from = Math.max(start - at, 0);
    const to = part.end === undefined ? piece.length : Math.min(part.end - at, piece.length);
    at += piece.length;
    if (from < to) yield from === 0 && to === piece.length ? piece : piece.subarray(from, to);
    // A requested range ends by itself, unless the server sends more.
    if (part.end !== undefined && (at > part.end || (at === part.end && reply.statusCode === 200))) return;
  }
}

function strongTag(reply: Reply | undefined): string | undefined {
  const tag = reply?.headers.etag;
  return typeof tag === 'string' && tag.startsWith('"') ? tag : undefined;
}
