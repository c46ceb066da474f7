import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { checkAnswer, StorageSilent } from '../../storage/storage-access.ts';
import type { ConfinedTree } from '../files/confined-tree.ts';
import { isAbsence } from '../files/file-errors.ts';
import { volumeFault } from '../volume-fault.ts';
import {
  closeHandle,
  openFile,
  type RequestContext,
  readFile,
  setFileAttributes,
  statFile,
  writeFile,
} from './file-requests.ts';
import { createOpenHandles } from './open-handles.ts';
import { readPackets } from './packet-stream.ts';
import { statusOf } from './sftp-failure.ts';
import { createPacketReader, MalformedPacket, REQUEST, STATUS, statusPacket, versionPacket } from './sftp-packet.ts';
import {
  EXTENSIONS,
  extended,
  makeDirectory,
  makeLink,
  openDirectory,
  readDirectory,
  readLink,
  realPath,
  removeDirectory,
  removeFile,
  rename,
  setAttributes,
  stat,
  statLink,
} from './tree-requests.ts';

type Handler = (context: RequestContext) => Buffer | Promise<Buffer>;

const HANDLERS: ReadonlyMap<number, Handler> = new Map<number, Handler>([
  [REQUEST.OPEN, openFile],
  [REQUEST.CLOSE, closeHandle],
  [REQUEST.READ, readFile],
  [REQUEST.WRITE, writeFile],
  [REQUEST.LSTAT, statLink],
  [REQUEST.FSTAT, statFile],
  [REQUEST.SETSTAT, setAttributes],
  [REQUEST.FSETSTAT, setFileAttributes],
  [REQUEST.OPENDIR, openDirectory],
  [REQUEST.READDIR, readDirectory],
  [REQUEST.REMOVE, removeFile],
  [REQUEST.MKDIR, makeDirectory],
  [REQUEST.RMDIR, removeDirectory],
  [REQUEST.REALPATH, realPath],
  [REQUEST.STAT, stat],
  [REQUEST.RENAME, rename],
  [REQUEST.READLINK, readLink],
  [REQUEST.SYMLINK, makeLink],
  [REQUEST.EXTENDED, extended],
]);

/** Concurrent READs or WRITEs; further ones wait in the channel, whose window then stops the client. */
const MAX_IN_FLIGHT = 32;

/** How a session reports errors. */
export interface SessionOptions {
  /** Receives errors that are caused neither by the client nor by the file system. */
  readonly onError: (error: unknown) => void;
}

/**
 * Serves SFTP version 3 on `channel` until the client ends it. Requests are started in the order received. READs overlap
 * with READs and WRITEs with WRITEs; all other requests wait for them, because clients send WRITE, CLOSE and SETSTAT without
 * waiting, and the latter must not overtake the data. WRITEs of one file keep their order. Responses keep the order of
 * requests: clients write data in the order received, so if a response overtook another, a broken connection would leave a
 * hole in the client's file, which resuming the download would not fill.
 */
export async function serveSftp(channel: Duplex, tree: ConfinedTree, { onError }: SessionOptions): Promise<void> {
  const handles = createOpenHandles();
  const perform = createPerformer({ tree, handles }, { onError });
  const inFlight = new Set<Promise<void>>();
  let kindInFlight = 0;
  let answered = Promise.resolve();
  const begin = (type: number, packet: Buffer) => {
    const answers = Promise.all([perform(type, numberOf(packet)), answered]);
    const work: Promise<void> = answers
      .then(([answer]) => void channel.write(answer))
      .finally(() => inFlight.delete(work));
    inFlight.add(work);
    answered = work;
    return work;
  };

  let greeted = false;
  try {
    for await (const packet of readPackets(channel as AsyncIterable<Buffer>)) {
      const type = packet[0] as number;
      if (!greeted) {
        if (type !== REQUEST.INIT) throw new MalformedPacket('the first packet is not INIT');
        greeted = true;
        channel.write(versionPacket(EXTENSIONS));
        continue;
      }
      const overlaps = type === REQUEST.READ || type === REQUEST.WRITE;
      if (!overlaps || type !== kindInFlight) await Promise.all(inFlight);
      kindInFlight = type;
      const work = begin(type, packet);
      if (!overlaps) await work;
      else if (inFlight.size >= MAX_IN_FLIGHT) await Promise.race(inFlight);
      if (channel.writableNeedDrain) await drained(channel);
    }
  } finally {
    await Promise.all(inFlight);
    await handles.closeAll();
  }
}

/** Returns a function that handles one request; its response also reports errors, so it rejects only for bugs. */
function createPerformer(
  session: Pick<RequestContext, 'tree' | 'handles'>,
  { onError }: SessionOptions,
): (type: number, numbered: Numbered) => Promise<Buffer> {
  const failurePacket = (request: number, error: unknown): Buffer => {
    const isAbsent = isAbsence(error);
    const silent = error instanceof StorageSilent ? error.message : undefined;
    const fault = isAbsent ? volumeFault(session.tree.root) : silent;
    // Not NO_SUCH_FILE, from which the client would conclude that its files were deleted.
    if (fault !== undefined) return statusPacket(request, STATUS.FAILURE, `the volume is not available: ${fault}`);
    const status = statusOf(error);
    if (status === undefined) onError(error);
    return statusPacket(request, status?.code ?? STATUS.FAILURE, isAbsent ? 'it does not exist' : status?.message);
  };
  return async (type, { request, reader }) => {
    const handler = HANDLERS.get(type);
    if (handler === undefined) return statusPacket(request, STATUS.OP_UNSUPPORTED);
    try {
      await checkAnswer(session.tree.storage);
      return await handler({ ...session, request, reader });
    } catch (error) {
      return failurePacket(request, error);
    }
  };
}

/** A request whose type and number have been read. */
type Numbered = Pick<RequestContext, 'request' | 'reader'>;

/** Throws for a packet without a number, because no response is possible. */
function numberOf(packet: Buffer): Numbered {
  const reader = createPacketReader(packet);
  reader.u8();
  return { request: reader.u32(), reader };
}

async function drained(channel: Duplex): Promise<void> {
  const stop = new AbortController();
  const { signal } = stop;
  try {
    await Promise.race([once(channel, 'drain', { signal }), once(channel, 'close', { signal })]);
  } finally {
    stop.abort();
  }
}
