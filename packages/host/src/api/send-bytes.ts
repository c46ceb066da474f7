import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.ts';
import type { ReadableFile } from '../runs/read-files.ts';

/**
 * Sends a file, or the part that the header `Range` asks for. Browsers never interpret the content, whatever it is: it is
 * an attachment of an opaque type, and would have no origin.
 */
export function sendBytes(
  file: ReadableFile,
  { http, reply, type }: { readonly http: FastifyRequest; readonly reply: FastifyReply; readonly type: string },
): FastifyReply {
  const range = parseRange(http.headers.range, file.size);
  const { start, end } = range ?? { start: 0, end: file.size };
  if (range !== undefined) void reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${file.size}`);
  void reply.headers({
    'accept-ranges': 'bytes',
    'content-length': end - start,
    'content-type': type,
    'content-disposition': `attachment; filename*=UTF-8''${encodeName(file.name)}`,
    'content-security-policy': "sandbox; default-src 'none'",
  });
  return reply.send(Readable.from(end > start ? file.read({ start, end }) : [], { objectMode: false }));
}

/**
 * The requested part; undefined for the whole file, also of an empty one, for which a browser would report an error. Throws
 * `ApiError` with status 416 if there is no such part.
 */
function parseRange(
  header: string | undefined,
  size: number,
): { readonly start: number; readonly end: number } | undefined {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  // Several ranges, and units that are not known, may be ignored.
  if (from === '' && to === '') return undefined;
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const end = from === '' || to === '' ? size : Math.min(size, Number(to) + 1);
  if (start < end) return { start, end };
  if (size === 0 && start === 0) return undefined;
  throw new RangeError416(size);
}

/** The requested range is outside of the file. */
export class RangeError416 extends ApiError {
  readonly size: number;

  constructor(size: number) {
    super(416, 'RANGE_INVALID', `could not send the range: the file has ${size} bytes`);
    this.size = size;
  }
}

function encodeName(name: string): string {
  return encodeURIComponent(Buffer.from(name).toString()).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16)}`,
  );
}
