import { chmodSync, constants, opendirSync, type Stats, utimesSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { openChargedFile } from '../files/charged-file.ts';
import type { ConfinedTree, TreeEntry } from '../files/confined-tree.ts';
import { volumePathOf } from './client-path.ts';
import { encodeAttributes, encodeBareName, encodeName, readAttributes } from './file-attributes.ts';
import { MAX_DATA_BYTES, type RequestContext, syncFile, truncate } from './file-requests.ts';
import { MAX_PACKET_BYTES } from './packet-stream.ts';
import { SftpFailure } from './sftp-failure.ts';
import { attributesPacket, extendedPacket, handlePacket, namePacket, STATUS, statusPacket } from './sftp-packet.ts';

/** Fits into a packet even with the longest names. */
const NAMES_PER_PACKET = 100;

function ok(request: number): Buffer {
  return statusPacket(request, STATUS.OK);
}

function requireThere(stats: Stats | undefined): Stats {
  if (stats === undefined) throw new SftpFailure(STATUS.NO_SUCH_FILE, 'it does not exist');
  return stats;
}

/** STAT: follows links. */
export function stat({ tree, request, reader }: RequestContext): Buffer {
  return attributesPacket(request, encodeAttributes(requireThere(tree.stat(volumePathOf(reader.text())))));
}

/** LSTAT: describes a link itself. */
export function statLink({ tree, request, reader }: RequestContext): Buffer {
  return attributesPacket(request, encodeAttributes(requireThere(tree.lstat(volumePathOf(reader.text())))));
}

/** SETSTAT. */
export async function setAttributes({ tree, request, reader }: RequestContext): Promise<Buffer> {
  const path = volumePathOf(reader.text());
  const { size, mode, times } = readAttributes(reader);
  if (size !== undefined) await truncateAt(tree, path, size);
  tree.inNode(path, (node) => {
    if (mode !== undefined) chmodSync(node, mode);
    if (times !== undefined) utimesSync(node, times.accessed, times.modified);
  });
  return ok(request);
}

async function truncateAt(tree: ConfinedTree, path: string, size: number): Promise<void> {
  const file = openChargedFile(tree, { path, flags: constants.O_WRONLY });
  try {
    await truncate(tree, file, size);
  } finally {
    await file.close();
  }
}

/** OPENDIR: checks permissions; entries are read later. */
export function openDirectory({ tree, handles, request, reader }: RequestContext): Buffer {
  const path = volumePathOf(reader.text());
  tree.inDirectory(path, (directory) => opendirSync(`/proc/self/fd/${directory}`).closeSync());
  return handlePacket(request, handles.add({ kind: 'directory', entries: entriesOf(tree, path) }));
}

async function* entriesOf(tree: ConfinedTree, path: string): AsyncGenerator<TreeEntry> {
  const stats = requireThere(tree.stat(path));
  // Some clients reject a listing without these.
  yield { name: '.', stats };
  yield { name: '..', stats };
  yield* tree.scan(path);
}

/** READDIR. */
export async function readDirectory({ handles, request, reader }: RequestContext): Promise<Buffer> {
  const entries = handles.directory(reader.bytes());
  const names: { readonly raw: Uint8Array }[] = [];
  while (names.length < NAMES_PER_PACKET) {
    const { value, done } = await entries.next();
    if (done) break;
    names.push(encodeName(value.name, value.stats));
  }
  return names.length === 0 ? statusPacket(request, STATUS.EOF) : namePacket(request, names);
}

/** REMOVE. */
export function removeFile({ tree, request, reader }: RequestContext): Buffer {
  tree.unlink(volumePathOf(reader.text()));
  return ok(request);
}

/** MKDIR. */
export function makeDirectory({ tree, request, reader }: RequestContext): Buffer {
  const path = volumePathOf(reader.text());
  tree.space.check();
  tree.makeDirectory(path, readAttributes(reader).mode ?? 0o777);
  return ok(request);
}

/** RMDIR. */
export function removeDirectory({ tree, request, reader }: RequestContext): Buffer {
  tree.removeDirectory(volumePathOf(reader.text()));
  return ok(request);
}

/** REALPATH: makes the path absolute without checking that it exists. */
export function realPath({ request, reader }: RequestContext): Buffer {
  return namePacket(request, [encodeBareName(`/${volumePathOf(reader.text())}`)]);
}

/** RENAME, which never replaces in version 3. */
export function rename({ tree, request, reader }: RequestContext): Buffer {
  const from = volumePathOf(reader.text());
  tree.renameNew(from, volumePathOf(reader.text()));
  return ok(request);
}

/** READLINK. */
export function readLink({ tree, request, reader }: RequestContext): Buffer {
  return namePacket(request, [encodeBareName(tree.readLink(volumePathOf(reader.text())))]);
}

/** SYMLINK. The target is first, contrary to the draft: OpenSSH and all other implementations do it so. */
export function makeLink({ tree, request, reader }: RequestContext): Buffer {
  const target = reader.text();
  tree.symlink(target, volumePathOf(reader.text()));
  return ok(request);
}

/** The supported extensions with their versions, as announced to clients. */
export const EXTENSIONS: Readonly<Record<string, string>> = {
  'posix-rename@openssh.com': '1',
  'hardlink@openssh.com': '1',
  'fsync@openssh.com': '1',
  'statvfs@openssh.com': '2',
  'limits@openssh.com': '1',
};

/** EXTENDED. Throws `SftpFailure` for an unknown extension. */
export async function extended(context: RequestContext): Promise<Buffer> {
  const { tree, request, reader } = context;
  const name = reader.text();
  switch (name) {
    case 'posix-rename@openssh.com': {
      const from = volumePathOf(reader.text());
      tree.rename(from, volumePathOf(reader.text()));
      return ok(request);
    }
    case 'hardlink@openssh.com': {
      const from = volumePathOf(reader.text());
      tree.link(from, volumePathOf(reader.text()));
      return ok(request);
    }
    case 'fsync@openssh.com':
      return syncFile(context);
    case 'statvfs@openssh.com':
      return fileSystem(tree, request);
    case 'limits@openssh.com':
      return extendedPacket(request, BigInt(MAX_PACKET_BYTES), BigInt(MAX_DATA_BYTES), BigInt(MAX_DATA_BYTES), 256n);
    default:
      throw new SftpFailure(STATUS.OP_UNSUPPORTED, 'unknown extension');
  }
}

async function fileSystem(tree: ConfinedTree, request: number): Promise<Buffer> {
  const { bsize, blocks, bfree, bavail, files, ffree } = await tree.storage.inThread(() =>
    statfs(tree.root, { bigint: true }),
  );
  return extendedPacket(request, bsize, bsize, blocks, bfree, bavail, files, ffree, ffree, 0n, 0n, 255n);
}
