import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type FileEntry, ServiceError, type VolumeFiles } from '@sluice/client';
import { forEachFile } from './for-each-file.ts';
import { listTree } from './list-tree.ts';

export interface DownloadProgress {
  readonly files: number;
  readonly totalFiles: number;
  readonly bytes: number;
  readonly totalBytes: number;
  readonly done: boolean;
}

interface DownloadOptions {
  /** Directory in the volume. */
  readonly from: string;
  /** Local directory; files in it that the volume does not have are left alone. */
  readonly to: string;
  readonly onProgress?: (progress: DownloadProgress) => void;
}

/**
 * Copies a directory of a volume, streaming and in parallel. Each file is put in place whole, so that a reader never
 * sees half of one. Throws `ServiceError`, or Node's own errors for the local side.
 */
export async function downloadTree(files: VolumeFiles, options: DownloadOptions): Promise<void> {
  const { from, to, onProgress } = options;
  const found = await listTree(files, from);
  const got = { files: 0, bytes: 0 };
  const total = { totalFiles: found.files.length, totalBytes: found.bytes };
  const report = (done: boolean) => onProgress?.({ ...got, ...total, done });
  const place = (entry: FileEntry) => localPath(to, entry.path.slice(from.length + 1));
  await mkdir(to, { recursive: true });
  for (const directory of found.directories) await mkdir(place(directory), { recursive: true });
  report(false);
  await forEachFile(found.files, async (entry) => {
    await downloadFile(files, entry, place(entry));
    got.files++;
    got.bytes += entry.size;
    report(false);
  });
  report(true);
}

async function downloadFile(files: VolumeFiles, entry: FileEntry, to: string): Promise<void> {
  await mkdir(path.dirname(to), { recursive: true });
  const partial = `${to}.sluice-part`;
  try {
    await pipeline(await files.read(entry.path), createWriteStream(partial));
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
