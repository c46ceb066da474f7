import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import path from 'node:path';
import type { VolumeFiles } from '@sluice/client';
import { fail, ok, type Result } from '@sluice/core';
import { withHomeLock } from '../journal/home-lock.ts';
import type { VolumePlace } from '../journal/journal-record.ts';
import type { RunRefusal } from '../run/run-options.ts';
import type { SurroundingsOptions } from '../run/surroundings-options.ts';
import { countTransfer, type TransferCount, type TransferProgress } from './count-transfer.ts';
import { forEachFile } from './for-each-file.ts';
import { sourcePath } from './layout.ts';
import { walkTree } from './list-tree.ts';
import { type ScannedSource, type SourceFile, scanSource } from './scan-source.ts';
import { SOURCES_LOCK, writeSourceMark } from './source-mark.ts';

export interface UploadOptions extends SurroundingsOptions {
  readonly files: VolumeFiles;
  /** The pipeline's name for the volume. */
  readonly name: string;
  /** As the pipeline file has it. */
  readonly source: string;
}

/**
 * Brings a local directory or file into the workspace, once for each content: what is there already under its digest is
 * not sent again. The mark that all files are there is written last, so that a broken upload is taken up again.
 */
export async function uploadSource(
  options: UploadOptions,
): Promise<Result<Pick<VolumePlace, 'path' | 'digest'>, RunRefusal>> {
  const local = path.resolve(options.baseDir, options.source);
  const tell = tellTo(options);
  const nothing = { files: 0, totalFiles: 0, bytes: 0, totalBytes: 0 };
  // To read and digest it may take as long as to send it.
  tell({ ...nothing, done: false });
  let scanned: ScannedSource;
  try {
    scanned = await scanSource(local, { disk: options.disk, home: options.home, now: options.clock.now() });
  } catch (error) {
    const message = `could not read the source of volume ${options.name}: ${(error as Error).message}`;
    return fail({ code: 'SOURCE_MISSING', message });
  }
  const place = sourcePath(scanned.digest);
  const list = scanned.files.map(({ path: at, size, sha256 }) => ({ path: at, size, sha256 }));
  const mark = () => writeSourceMark(options.files, place.mark, { usedAt: options.clock.now(), files: list });
  // Used anew under the lock that the garbage collection takes: what is young is not collected.
  const isThere = await withHomeLock({ ...options, name: SOURCES_LOCK }, async () => {
    if (!(await options.files.stat(place.mark))) return false;
    await mark();
    return true;
  });
  if (isThere) {
    tell({ ...nothing, done: true });
  } else {
    const changed = await uploadFiles(options, scanned, { to: place.files, tell });
    if (changed !== undefined) {
      const message = `could not upload ${changed}: it changed while it was read; start again`;
      return fail({ code: 'SOURCE_MISSING', message });
    }
    await mark();
  }
  return ok({ path: place.files, digest: scanned.digest });
}

function tellTo({ reporter, clock, name }: UploadOptions): (progress: TransferProgress) => void {
  return (progress) => reporter?.report({ type: 'transfer', at: clock.now(), direction: 'upload', name, ...progress });
}

/** Returns the file that was not what the scan had read, if any. */
async function uploadFiles(
  { files }: UploadOptions,
  scanned: ScannedSource,
  { to, tell }: { to: string; tell: (progress: TransferProgress) => void },
): Promise<string | undefined> {
  const totalBytes = scanned.files.reduce((sum, file) => sum + file.size, 0);
  const count = countTransfer({ totalFiles: scanned.files.length, totalBytes }, tell);
  await files.makeDirectory(to);
  for (const directory of scanned.emptyDirectories) await files.makeDirectory(`${to}/${directory}`);
  const there = await listSizes(files, to);
  let changed: string | undefined;
  await forEachFile(scanned.files, async (file) => {
    if (changed !== undefined) return;
    const place = `${to}/${file.path}`;
    if (there.get(place) === file.size) count.addBytes(file.size);
    else if (!(await uploadFile(files, file, { to: place, count }))) changed = file.local;
    count.addFile();
  });
  if (changed === undefined) changed = await findDifference(files, scanned, to);
  if (changed === undefined) count.end();
  return changed;
}

/** False: the bytes sent were not those that had been digested. */
async function uploadFile(
  files: VolumeFiles,
  file: SourceFile,
  { to, count }: { to: string; count: TransferCount },
): Promise<boolean> {
  const hash = createHash('sha256');
  async function* bytes(): AsyncIterable<Uint8Array> {
    for await (const chunk of createReadStream(file.local, { highWaterMark: 256 * 1024 })) {
      hash.update(chunk as Uint8Array);
      count.addBytes((chunk as Uint8Array).length);
      yield chunk as Uint8Array;
    }
  }
  await files.write(to, bytes(), { size: file.size, executable: file.executable });
  if (hash.digest('hex') === file.sha256) return true;
  await files.remove(to);
  return false;
}

async function findDifference(files: VolumeFiles, scanned: ScannedSource, to: string): Promise<string | undefined> {
  const there = await listSizes(files, to);
  return scanned.files.find((file) => there.get(`${to}/${file.path}`) !== file.size)?.local;
}

/** Every file beneath a directory, with its size. */
async function listSizes(files: VolumeFiles, directory: string): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for await (const { kind, path, size } of walkTree(files, directory)) if (kind === 'file') sizes.set(path, size);
  return sizes;
}
