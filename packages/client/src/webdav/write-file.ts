import { randomBytes } from 'node:crypto';
import type { Reply } from '../http/exchange.ts';
import { isServiceError, ServiceError } from '../service-error.ts';
import { type DavClient, discard } from './dav-client.ts';
import { parentPath, volumePathSegments } from './volume-path.ts';

/** A file to write; `size` is in bytes. */
export interface FileWrite {
  readonly path: string;
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
  readonly size?: number;
  readonly executable?: boolean;
}

const PART_NAME = /^\.sluice-[0-9a-f]{24}\.part$/;

/** Whether a file of this name is an unfinished upload. */
export function isPartName(name: string): boolean {
  return PART_NAME.test(name);
}

/** A unique name for unfinished data, in the directory of `path`. */
export function partBeside(path: string): string {
  const parent = parentPath(path) ?? '';
  const name = `.sluice-${randomBytes(12).toString('hex')}.part`;
  return parent === '' ? name : `${parent}/${name}`;
}

const EXECUTABLE_BODY =
  '<?xml version="1.0" encoding="utf-8"?><D:propertyupdate xmlns:D="DAV:" xmlns:A="http://apache.org/dav/props/">' +
  '<D:set><D:prop><A:executable>T</A:executable></D:prop></D:set></D:propertyupdate>';

/** Uploads a file under a temporary name in its directory, then moves it into place. */
export async function writeFile(dav: DavClient, write: FileWrite): Promise<void> {
  const what = `write ${JSON.stringify(write.path)}`;
  const segments = volumePathSegments(write.path);
  if (segments.length === 0) throw new ServiceError('INVALID_ARGUMENT', `could not ${what}: it is the volume's root`);
  const parent = parentPath(write.path) ?? '';
  const part = partBeside(write.path);
  try {
    await send(dav, { ...write, part, parent, what });
    if (write.executable === true) await markExecutable(dav, { part, what });
    await putInPlace(dav, { part, path: write.path, what });
  } catch (error) {
    await dav.remove(part, what).catch(() => {});
    throw error;
  }
}

interface Sending extends FileWrite {
  readonly part: string;
  readonly parent: string;
  readonly what: string;
}

async function send(dav: DavClient, sending: Sending): Promise<void> {
  const { body, parent, what } = sending;
  if (!(body instanceof Uint8Array)) {
    // A stream can be sent only once, so its directory is created before.
    if (parent !== '') await dav.makeCollections(parent);
    await sendStream(dav, { ...sending, body });
    return;
  }
  if (sending.size !== undefined && sending.size !== body.length) throw wrongSize(what);
  const once = async () => {
    const reply = await dav.send({ method: 'PUT', path: sending.part, body, what });
    if (reply.statusCode === 409 || reply.statusCode === 404) return discard(reply, 'noParent' as const);
    return await stored(dav, { reply, what });
  };
  if ((await dav.again(once, what)) !== 'noParent') return;
  await dav.makeCollections(parent);
  if ((await dav.again(once, what)) === 'noParent') {
    throw new ServiceError('INVALID_ARGUMENT', `could not ${what}: something that is no directory is in the way`);
  }
}

async function stored(dav: DavClient, { reply, what }: { reply: Reply; what: string }): Promise<'stored'> {
  if (![200, 201, 204].includes(reply.statusCode)) throw await dav.rejection(reply, what);
  return discard(reply, 'stored' as const);
}

/**
 * While the source produces data, the server may wait; after the last byte, the usual timeout for the reply applies.
 */
async function sendStream(dav: DavClient, sending: Sending & { body: AsyncIterable<Uint8Array> }): Promise<void> {
  const { size, what } = sending;
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let sourceFailed = false;
  async function* source() {
    let sent = 0;
    try {
      for await (const piece of sending.body) {
        sent += piece.length;
        if (size !== undefined && sent > size) throw wrongSize(what);
        yield piece;
      }
      if (size !== undefined && sent < size) throw wrongSize(what);
    } catch (error) {
      sourceFailed = true;
      throw error;
    }
    timer = setTimeout(() => late.abort(), dav.timeouts.replyMs);
  }
  const headers: Record<string, string> = size === undefined ? {} : { 'content-length': String(size) };
  try {
    const reply = await dav.send({
      method: 'PUT',
      path: sending.part,
      headers,
      body: source(),
      what,
      signal: late.signal,
      replyMs: 0,
    });
    await stored(dav, { reply, what });
  } catch (error) {
    if (sourceFailed && error instanceof Error && error.cause !== undefined) throw error.cause;
    if (!isServiceError(error, 'ABORTED')) throw error;
    throw new ServiceError('NO_REPLY', `could not ${what}: no reply within ${dav.timeouts.replyMs} ms`);
  } finally {
    clearTimeout(timer);
  }
}

const wrongSize = (what: string) =>
  new ServiceError('INVALID_ARGUMENT', `could not ${what}: the bytes are not as many as its size says`);

async function markExecutable(dav: DavClient, { part, what }: { part: string; what: string }): Promise<void> {
  const headers = { 'content-type': 'application/xml; charset=utf-8' };
  await discard(await dav.send({ method: 'PROPPATCH', path: part, headers, body: EXECUTABLE_BODY, what }));
}

/** The first MOVE does not overwrite, because it would replace a whole directory of that name. */
async function putInPlace(dav: DavClient, at: { part: string; path: string; what: string }): Promise<void> {
  const { part, path, what } = at;
  const moved = (overwrite: boolean) =>
    dav.again(async (doubt) => {
      const outcome = await dav.move(part, { to: path, overwrite, what });
      // Only this upload uses the name: if it is gone after a lost reply, it was moved.
      return outcome === 'absent' && doubt ? 'moved' : outcome;
    }, what);
  let outcome = await moved(false);
  if (outcome === 'occupied') {
    const there = await dav.propfind(path, { depth: 0, what });
    if (there?.[0]?.kind === 'dir') {
      throw new ServiceError('INVALID_ARGUMENT', `could not ${what}: a directory is there`);
    }
    outcome = await moved(true);
  }
  if (outcome !== 'moved') throw new ServiceError('UNAVAILABLE', `could not ${what}: it could not be put in its place`);
}
