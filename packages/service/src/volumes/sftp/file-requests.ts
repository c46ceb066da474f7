import { constants, fchmodSync, fstatSync, fsync, futimesSync, read } from 'node:fs';
import { promisify } from 'node:util';
import { checkAnswer } from '../../storage/storage-access.ts';
import { type ChargedFile, openChargedFile } from '../files/charged-file.ts';
import type { ConfinedTree } from '../files/confined-tree.ts';
import { volumePathOf } from './client-path.ts';
import { encodeAttributes, readAttributes } from './file-attributes.ts';
import type { OpenHandles } from './open-handles.ts';
import { OrderedWrites } from './ordered-writes.ts';
import { MAX_PACKET_BYTES } from './packet-stream.ts';
import { SftpFailure } from './sftp-failure.ts';
import {
  attributesPacket,
  DATA_HEADER_BYTES,
  dataPacket,
  handlePacket,
  type PacketReader,
  STATUS,
  statusPacket,
} from './sftp-packet.ts';

const readFrom = promisify(read);
const syncToDisk = promisify(fsync);

/** A request and the session's state that it uses. */
export interface RequestContext {
  readonly tree: ConfinedTree;
  readonly handles: OpenHandles;
  readonly request: number;
  readonly reader: PacketReader;
}

/** The maximum data length of READ and WRITE, limited by the packet size. */
export const MAX_DATA_BYTES = MAX_PACKET_BYTES - 1_024;

const OPEN = { READ: 0x1, WRITE: 0x2, APPEND: 0x4, CREATE: 0x8, TRUNCATE: 0x10, EXCLUSIVE: 0x20 } as const;

/** OPEN. Flags are interpreted independently: clients send combinations that no mode of `fopen` has. */
export async function openFile({ tree, handles, request, reader }: RequestContext): Promise<Buffer> {
  const path = volumePathOf(reader.text());
  const wanted = reader.u32();
  const { mode = 0o666 } = readAttributes(reader);
  const has = (flag: number) => (wanted & flag) !== 0;
  if (!has(OPEN.READ) && !has(OPEN.WRITE))
    throw new SftpFailure(STATUS.FAILURE, 'it is opened for neither reading nor writing');
  if (path === '') throw new SftpFailure(STATUS.FAILURE, 'it is a directory');
  let flags: number = constants.O_RDONLY;
  if (has(OPEN.WRITE)) flags = has(OPEN.READ) ? constants.O_RDWR : constants.O_WRONLY;
  if (has(OPEN.APPEND)) flags |= constants.O_APPEND;
  if (has(OPEN.CREATE)) flags |= constants.O_CREAT;
  if (has(OPEN.EXCLUSIVE) && has(OPEN.CREATE)) flags |= constants.O_EXCL;
  if (has(OPEN.WRITE)) tree.space.check();
  const file = openChargedFile(tree, { path, flags, mode });
  try {
    if (has(OPEN.TRUNCATE) && has(OPEN.WRITE)) await file.truncate(0);
  } catch (error) {
    await file.close();
    throw error;
  }
  return handlePacket(request, handles.add({ kind: 'file', file, writes: new OrderedWrites(file) }));
}

/** READ, directly into the buffer of the response. */
export async function readFile({ tree, handles, request, reader }: RequestContext): Promise<Buffer> {
  const { file } = handles.file(reader.bytes()).file;
  const offset = reader.u64();
  const length = Math.min(reader.u32(), MAX_DATA_BYTES);
  const buffer = Buffer.allocUnsafe(DATA_HEADER_BYTES + length);
  const { bytesRead: count } = await tree.storage.inThread(() =>
    readFrom(file, buffer, DATA_HEADER_BYTES, length, offset),
  );
  if (count === 0 && length > 0) return statusPacket(request, STATUS.EOF);
  return dataPacket(request, buffer, count);
}

/** WRITE. */
export async function writeFile({ handles, request, reader }: RequestContext): Promise<Buffer> {
  const { writes } = handles.file(reader.bytes());
  const offset = reader.u64();
  await writes.write(reader.bytes(), offset);
  return statusPacket(request, STATUS.OK);
}

/** CLOSE, for files and directories. */
export async function closeHandle({ handles, request, reader }: RequestContext): Promise<Buffer> {
  await handles.close(reader.bytes());
  return statusPacket(request, STATUS.OK);
}

/** FSTAT. */
export function statFile({ handles, request, reader }: RequestContext): Buffer {
  return attributesPacket(request, encodeAttributes(fstatSync(handles.file(reader.bytes()).file.file)));
}

/** FSETSTAT. */
export async function setFileAttributes({ tree, handles, request, reader }: RequestContext): Promise<Buffer> {
  const { file } = handles.file(reader.bytes());
  const { size, mode, times } = readAttributes(reader);
  if (size !== undefined) await truncate(tree, file, size);
  if (mode !== undefined) fchmodSync(file.file, mode);
  if (times !== undefined) futimesSync(file.file, times.accessed, times.modified);
  return statusPacket(request, STATUS.OK);
}

/** Synchronous calls may follow. */
export async function truncate(tree: ConfinedTree, file: ChargedFile, size: number): Promise<void> {
  await file.truncate(size);
  await checkAnswer(tree.storage);
}

/** fsync@openssh.com */
export async function syncFile({ tree, handles, request, reader }: RequestContext): Promise<Buffer> {
  const { file } = handles.file(reader.bytes()).file;
  await tree.storage.inThread(() => syncToDisk(file));
  return statusPacket(request, STATUS.OK);
}
