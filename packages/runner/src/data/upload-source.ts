import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import {
  bytesToName,
  type FileEntry,
  isServiceError,
  nameOnDisk,
  printableName,
  type VolumeFiles,
} from '@sluice/client';
import { fail, ok, type Result } from '@sluice/core';
import { withHomeLock } from '@sluice/home';
import { type RunError, SOURCES, sourcePath, TRASH, type VolumePlace } from '@sluice/run';
import type { ProvisionOptions } from '../session/provision-options.ts';
import { countTransfer, type TransferCount, type TransferProgress } from '../trees/count-transfer.ts';
import { forEachFile } from '../trees/for-each-file.ts';
import { hashFile } from '../trees/hash-file.ts';
import { walkTree } from '../trees/list-tree.ts';
import { type ScannedSource, type SourceFile, scanSource } from '../trees/scan-source.ts';
import { SOURCES_LOCK, writeSourceMark } from '../trees/source-mark.ts';
import { openTreeStates } from '../trees/tree-states.ts';
import { digestParts } from './digest-parts.ts';

/** A source, and the volume to which it is uploaded. */
export interface UploadOptions extends ProvisionOptions {
  readonly files: VolumeFiles;
  readonly volumeID: string;
  /** The volume's name in the pipeline. */
  readonly name: string;
  /** The path in the pipeline file. */
  readonly source: string;
  /** The patterns in the pipeline file. */
  readonly exclude?: readonly string[];
}

/**
 * Uploads a local directory or file to the workspace, once for each content: if its digest is already present, nothing
 * is sent. The mark of a complete source is written last, so that an interrupted upload is continued.
 */
export async function uploadSource(
  options: UploadOptions,
): Promise<Result<Pick<VolumePlace, 'path' | 'digest' | 'parts'>, RunError>> {
  const local = path.resolve(options.baseDir, options.source);
  const onProgress = progressReporter(options);
  const nothing = { files: 0, totalFiles: 0, bytes: 0, totalBytes: 0 };
  // Reading and hashing may take as long as sending.
  onProgress({ ...nothing, done: false });
  let scanned: ScannedSource;
  try {
    scanned = await scanSource(local, { ...options, now: options.clock.wall() });
  } catch (error) {
    const message = `could not read the source of volume ${options.name}: ${(error as Error).message}`;
    return fail({ code: 'SOURCE_MISSING', message });
  }
  reportWarnings(options, scanned.warnings);
  const place = sourcePath(scanned.digest);
  const list = scanned.files.map(({ path: at, size, sha256 }) => ({ path: at, size, sha256 }));
  const mark = () => writeSourceMark(options.files, place.mark, { usedAt: options.clock.wall(), files: list });
  // The mark is renewed under the lock of garbage collection, which does not remove recently used sources.
  const isThere = await withHomeLock({ ...options, name: SOURCES_LOCK }, async () => {
    if (!(await options.files.stat(place.mark))) {
      // The recorded state of the previous files does not apply to the new ones.
      await openTreeStates(options).forget({ volumeID: options.volumeID, path: place.files });
      return false;
    }
    if (await discardIfChanged(options, scanned.digest)) return false;
    await mark();
    return true;
  });
  if (isThere) {
    onProgress({ ...nothing, done: true });
  } else {
    const fault = await uploadFiles(options, scanned, { to: place.files, onProgress });
    if (fault !== undefined) return fail({ code: 'SOURCE_MISSING', message: fault });
    await mark();
  }
  const parts = digestParts(options.plan, { volume: options.name, scanned });
  return ok({ path: place.files, digest: scanned.digest, parts });
}

/** Discards a source that a container has changed; it is uploaded again. Containers that still read it may fail. */
async function discardIfChanged(
  { files, disk, home, volumeID, clock }: UploadOptions,
  digest: string,
): Promise<boolean> {
  const states = openTreeStates({ disk, home });
  const place = { volumeID, path: sourcePath(digest).files };
  if ((await states.findChange(files, place)) === undefined) return false;
  await files.move(`${SOURCES}/${digest}`, `${TRASH}/${digest}-${clock.wall()}`);
  await states.forget(place);
  return true;
}

function progressReporter({ report, clock, name }: UploadOptions): (progress: TransferProgress) => void {
  return (progress) => report({ type: 'transfer', at: clock.now(), direction: 'upload', name, ...progress });
}

const MAX_WARNINGS = 10;

function reportWarnings({ report, clock, name, source }: UploadOptions, warnings: readonly string[]): void {
  const shown = warnings.slice(0, MAX_WARNINGS);
  if (warnings.length > MAX_WARNINGS) shown.push(`${warnings.length - MAX_WARNINGS} more warnings`);
  for (const warning of shown) {
    report({ type: 'warning', at: clock.now(), message: `volume ${name}, source ${source}: ${warning}` });
  }
}

/** Returns a message if a file has changed since the scan, or if a link cannot be created. */
async function uploadFiles(
  options: UploadOptions,
  scanned: ScannedSource,
  { to, onProgress }: { to: string; onProgress: (progress: TransferProgress) => void },
): Promise<string | undefined> {
  const { files } = options;
  const totalBytes = scanned.files.reduce((sum, file) => sum + file.size, 0);
  const count = countTransfer({ totalFiles: scanned.files.length, totalBytes }, onProgress);
  await files.makeDirectory(to);
  for (const directory of scanned.emptyDirectories) await files.makeDirectory(`${to}/${directory}`);
  const there = await listEntries(files, to);
  let changed: string | undefined;
  await forEachFile(scanned.files, async (file) => {
    if (changed !== undefined) return;
    const place = `${to}/${file.path}`;
    if (await isThere(files, file, there.get(place))) count.addBytes(file.size);
    else if (!(await uploadFile(files, file, { to: place, count }))) changed = file.path;
    count.addFile();
  });
  if (changed === undefined) {
    const fault = await uploadLinks(options, scanned, to);
    if (fault !== undefined) return fault;
    changed = await findDifference(files, scanned, to);
  }
  if (changed !== undefined) return describeChanged(changed);
  count.end();
  return undefined;
}

/** Whether an earlier upload has stored the file. Its content is compared, because files of equal size may differ. */
async function isThere(files: VolumeFiles, file: SourceFile, known: FileEntry | undefined): Promise<boolean> {
  if (known?.size !== file.size) return false;
  if (known.executable !== undefined && known.executable !== file.executable) return false;
  try {
    return (await hashFile(files, known.path)) === file.sha256;
  } catch (error) {
    // Another run that uses the source may have discarded it.
    if (isServiceError(error, 'NOT_FOUND')) return false;
    throw error;
  }
}

const describeChanged = (name: string) => `could not upload ${quote(name)}: it changed while it was read; start again`;

const quote = (name: string) => JSON.stringify(printableName(name));

/** Returns a message if a link cannot be replaced on a service that does not support links, or if its target has changed. */
async function uploadLinks(options: UploadOptions, scanned: ScannedSource, to: string): Promise<string | undefined> {
  let fault: string | undefined;
  const left: string[] = [];
  await forEachFile(scanned.links, async (link) => {
    if (fault !== undefined || (await options.files.link(`${to}/${link.path}`, link.target))) return;
    if (link.reaches === 'dir') {
      fault = `could not upload ${quote(link.path)}: it is a link to a directory, and the service does not support links; replace it with the directory`;
    } else if (link.reaches === undefined) {
      left.push(`left out ${printableName(link.path)}, a link to nothing, since the service does not support links`);
    } else {
      const reached = await findReached(options, scanned, link.path);
      if (reached === undefined) {
        left.push(
          `left out ${printableName(link.path)}, a link to a file that is left out, since the service does not support links`,
        );
      } else if (!(await uploadFile(options.files, reached, { to: `${to}/${link.path}`, count: UNCOUNTED }))) {
        fault = describeChanged(link.path);
      }
    }
  });
  reportWarnings(options, left.sort());
  return fault;
}

/** The target is uploaded by itself, too, and only that is counted. */
const UNCOUNTED = { addBytes: () => {} };

/** The file of the source to which a link leads; undefined if it is none of its files, or none any more. */
async function findReached(
  { baseDir, source }: UploadOptions,
  { files }: ScannedSource,
  at: string,
): Promise<SourceFile | undefined> {
  const root = await realpath(path.resolve(baseDir, source));
  const reached = await realpath(nameOnDisk(`${root}/${at}`), { encoding: 'buffer' }).then(
    bytesToName,
    () => undefined,
  );
  return files.find((file) => `${root}/${file.path}` === reached);
}

class ChangedFile extends Error {}

/** False: the file has changed since the scan, and was not uploaded. */
async function uploadFile(
  files: VolumeFiles,
  file: SourceFile,
  { to, count }: { to: string; count: Pick<TransferCount, 'addBytes'> },
): Promise<boolean> {
  try {
    await files.write(to, readVerified(file, count), { size: file.size, executable: file.executable });
    return true;
  } catch (error) {
    if (error instanceof ChangedFile) return false;
    throw error;
  }
}

/** Yields the last chunk only if the digest is correct: a changed file is never sent completely, so no service stores it. */
async function* readVerified(file: SourceFile, count: Pick<TransferCount, 'addBytes'>): AsyncIterable<Uint8Array> {
  const hash = createHash('sha256');
  let last: Uint8Array | undefined;
  for await (const chunk of createReadStream(file.local, { highWaterMark: 256 * 1024 })) {
    if (last) yield last;
    last = chunk as Uint8Array;
    hash.update(last);
    count.addBytes(last.length);
  }
  if (hash.digest('hex') !== file.sha256) throw new ChangedFile(file.path);
  if (last) yield last;
}

async function findDifference(files: VolumeFiles, scanned: ScannedSource, to: string): Promise<string | undefined> {
  const there = await listEntries(files, to);
  return scanned.files.find((file) => there.get(`${to}/${file.path}`)?.size !== file.size)?.path;
}

/** All files in a tree, by path. */
async function listEntries(files: VolumeFiles, directory: string): Promise<Map<string, FileEntry>> {
  const found = new Map<string, FileEntry>();
  for await (const entry of walkTree(files, directory)) {
    if (entry.kind === 'file' && entry.link === undefined) found.set(entry.path, entry);
  }
  return found;
}
