import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type FileEntry, ServiceError, type VolumeFiles } from '@sluice/client';
import { countTransfer, type TransferCount, type TransferProgress } from './count-transfer.ts';
import { forEachFile } from './for-each-file.ts';
import { listTree } from './list-tree.ts';

interface DownloadOptions {
  /** Directory in the volume. */
  readonly from: string;
  /** Local directory; files in it that the volume does not have are left alone. */
  readonly to: string;
  readonly onProgress?: (progress: TransferProgress) => void;
}

/**
 * Copies a directory of a volume, streaming and in parallel. Each file is put in place whole, so that a reader never
 * sees half of one. Throws `ServiceError`, or Node's own errors for the local side.
 */
export async function downloadTree(files: VolumeFiles, options: DownloadOptions): Promise<void> {
  const { from, to, onProgress = () => {} } = options;
  const found = await listTree(files, from);
  const place = (entry: FileEntry) => localPath(to, entry.path.slice(from.length + 1));
  await mkdir(to, { recursive: true });
  for (const directory of found.directories) await mkdir(place(directory), { recursive: true });
  const count = countTransfer({ totalFiles: found.files.length, totalBytes: found.bytes }, onProgress);
  await forEachFile(found.files, async (entry) => {
    await downloadFile(files, entry, { to: place(entry), count });
    count.addFile();
  });
  count.end();
}

async function downloadFile(
  files: VolumeFiles,
  entry: FileEntry,
  { to, count }: { to: string; count: TransferCount },
): Promise<void> {
  await mkdir(path.dirname(to), { recursive: true });
  const partial = `${to}.sluice-part`;
  try {
    const counted = async function* (bytes: AsyncIterable<Uint8Array>) {
      for await (const chunk of bytes) {
        count.addBytes(chunk.length);
        yield chunk;
      }
    };
    await pipeline(await files.read(entry.path), counted, createWriteStream(partial));
    const { size } = await stat(partial);
    if (size !== entry.size) {
      throw new ServiceError('NO_REPLY', `${entry.path} has ${entry.size} bytes, and ${size} of them came`);
    }
    await rename(partial, to);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** A name from the volume must stay beneath the local directory. */
function localPath(root: string, relative: string): string {
  const file = path.resolve(root, relative);
  if (file.startsWith(`${path.resolve(root)}${path.sep}`)) return file;
  throw new ServiceError('INVALID_REPLY', `the service lists ${relative}, which leads out of the directory`);
}
