import { once } from 'node:events';
import type { Duplex } from 'node:stream';
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

/** READs or WRITEs at work at once; more wait in the channel, whose window then closes on the client. */
const MAX_AT_WORK = 32;

export interface SessionOptions {
  /** Told of what is neither the client's fault nor the file system's. */
  readonly onError: (error: unknown) => void;
  /** See `VolumeSession`. */
  readonly admit?: RequestContext['admit'];
}

/**
 * Speaks SFTP version 3 on `channel` until the client ends it. Requests are begun in the order in which they come. READs
 * overlap with READs and WRITEs with WRITEs; everything else waits until those are done, so that a CLOSE, or a SETSTAT
 * by name after it, cannot overtake the data: clients send all three in one go. WRITEs of one file keep their order, and
 * all answers that of their requests: a client writes what it has read as it comes, and were an answer to overtake an
 * earlier one, a connection that breaks would leave a hole in its file, which no resumed download would fill.
 */
export async function serveSftp(
  channel: Duplex,
  tree: ConfinedTree,
  { onError, admit }: SessionOptions,
): Promise<void> {
  const handles = createOpenHandles();
  const atWork = new Set<Promise<void>>();
  let kindAtWork = 0;

  const carryOut = async (type: number, { request, reader }: Numbered): Promise<Buffer> => {
    const handler = HANDLERS.get(type);
    if (handler === undefined) return statusPacket(request, STATUS.OP_UNSUPPORTED);
    try {
      return await handler({ tree, handles, request, reader, admit });
    } catch (error) {
      return failurePacket(request, error);
    }
  };
  const failurePacket = (request: number, error: unknown): Buffer => {
    const fault = isAbsence(error) ? volumeFault(tree.root) : undefined;
    // Not "no such file", which would tell the client that its files are gone.
    if (fault !== undefined) return statusPacket(request, STATUS.FAILURE, `the volume cannot be reached: ${fault}`);
    const status = statusOf(error);
    if (status === undefined) onError(error);
    return statusPacket(
      request,
      status?.code ?? STATUS.FAILURE,
      isAbsence(error) ? 'it is not there' : status?.message,
    );
  };
  let answered = Promise.resolve();
  const begin = (type: number, packet: Buffer) => {
    const answers = Promise.all([carryOut(type, numberOf(packet)), answered]);
    const work: Promise<void> = answers
      .then(([answer]) => void channel.write(answer))
      .finally(() => atWork.delete(work));
    atWork.add(work);
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
      if (!overlaps || type !== kindAtWork) await Promise.all(atWork);
      kindAtWork = type;
      const work = begin(type, packet);
      if (!overlaps) await work;
      else if (atWork.size >= MAX_AT_WORK) await Promise.race(atWork);
      if (channel.writableNeedDrain) await drained(channel);
    }
  } finally {
    await Promise.all(atWork);
    await handles.closeAll();
  }
}

/** A request, read up to and with its number. */
type Numbered = Pick<RequestContext, 'request' | 'reader'>;

/** Throws for a packet that has none: nobody could be answered. */
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
