import { constants, fstatSync, type Stats } from 'node:fs';
import { nameToBytes } from '@sluice/client';
import { sendBlock } from '../../protocol/send-block.ts';
import { closeFile } from '../files/close-file.ts';
import { readBlocks } from '../files/file-range.ts';
import { contentTypeOf } from './content-type.ts';
import { DavError } from './dav-rejection.ts';
import { answer, type DavRequest, etagOf, requireStats } from './dav-request.ts';
import { matches } from './preconditions.ts';

/** GET and HEAD: a file or one range of it, or the names in a directory as plain text. */
export async function get(dav: DavRequest): Promise<void> {
  if (requireStats(dav.volume, dav.path).isDirectory()) return getDirectory(dav);
  const file = dav.volume.tree.openFile(dav.path, constants.O_RDONLY);
  try {
    await getFile(dav, file);
  } finally {
    await closeFile(dav.volume.tree.storage, file);
  }
}

async function getFile(dav: DavRequest, file: number): Promise<void> {
  const { request, reply, path, volume } = dav;
  const stats = fstatSync(file);
  const headers: Record<string, string> = {
    etag: etagOf(stats),
    'last-modified': new Date(stats.mtimeMs).toUTCString(),
    'accept-ranges': 'bytes',
  };
  if (isFresh(dav, stats)) return answer(reply, 304, headers);
  const range = rangeOf(dav, stats);
  if (range === 'unsatisfiable') {
    throw new DavError(416, 'the range is beyond the end', { headers: { 'content-range': `bytes */${stats.size}` } });
  }
  const { start, end } = range ?? { start: 0, end: stats.size };
  headers['content-type'] = contentTypeOf(path);
  headers['content-length'] = String(end - start);
  if (range !== undefined) headers['content-range'] = `bytes ${start}-${end - 1}/${stats.size}`;
  reply.writeHead(range === undefined ? 200 : 206, headers);
  if (request.method === 'HEAD' || start === end) {
    reply.end();
    return;
  }
  let sent = 0;
  for await (const block of readBlocks(volume.tree.storage, file, { start, end, reuse: true })) {
    await sendBlock(reply, block);
    sent += block.length;
  }
  // The file was truncated in the meantime: only closing the connection shows that the announced length cannot be met.
  if (sent < end - start) reply.destroy();
  else reply.end();
}

function isFresh({ request }: DavRequest, stats: Stats): boolean {
  const noneMatch = request.headers['if-none-match'];
  if (noneMatch !== undefined) return matches(noneMatch, stats);
  const since = Date.parse(request.headers['if-modified-since'] ?? '');
  return !Number.isNaN(since) && Math.floor(stats.mtimeMs / 1_000) * 1_000 <= since;
}

/** Undefined to send the whole file, including for several ranges and for an `If-Range` that does not match. */
function rangeOf({ request }: DavRequest, stats: Stats): { start: number; end: number } | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? '');
  if (match === null || (match[1] === '' && match[2] === '')) return undefined;
  const ifRange = request.headers['if-range'];
  if (typeof ifRange === 'string' && !sameVersion(ifRange, stats)) return undefined;
  const [, first = '', last = ''] = match;
  const { size } = stats;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size };
  }
  const start = Number(first);
  const end = last === '' ? size : Math.min(Number(last) + 1, size);
  if (last !== '' && Number(last) < start) return undefined;
  return start >= size ? 'unsatisfiable' : { start, end };
}

function sameVersion(ifRange: string, stats: Stats): boolean {
  if (ifRange.startsWith('"')) return ifRange === etagOf(stats);
  return Date.parse(ifRange) === Math.floor(stats.mtimeMs / 1_000) * 1_000;
}

async function getDirectory({ volume, path, request, reply }: DavRequest): Promise<void> {
  const lines: string[] = [];
  if (request.method !== 'HEAD') {
    for await (const { name, stats } of volume.tree.list(path))
      lines.push(`${name}${stats.isDirectory() ? '/' : ''}\n`);
  }
  reply.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
  reply.end(nameToBytes(lines.join('')));
}
