import { link, lstat, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { fail, ok, type Result } from '@sluice/core';
import { isSystemError, makeDirectories, systemErrorCode } from '@sluice/host-system';
import { countTransfer, type TransferProgress } from './count-transfer.ts';
import { downloadFile, type FileDownload } from './download-file.ts';
import { hashLocalFile } from './hash-local-file.ts';
import { resolveTarget } from './target-fault.ts';
import { removeLeftovers, temporaryNames } from './temporary-names.ts';

/** A file of a volume, and the local file as which it is delivered. */
export interface FileDelivery extends Pick<FileDownload, 'volume' | 'entry'> {
  readonly to: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  readonly onProgress?: (progress: TransferProgress) => void;
}

const TAKEN = 'something else exists there; remove it, or name another place';

/**
 * Copies a file of a volume to a local file, which appears as a whole. An existing file has no marker that says who wrote it,
 * so it is never replaced: it is an error, unless it has the same content. Returns why the file could not be delivered.
 * Throws `ServiceError`, or Node's own errors about local files.
 */
export async function deliverFile(delivery: FileDelivery): Promise<Result<string[], string>> {
  const { volume, entry, now, onProgress = () => {} } = delivery;
  const target = await resolveTarget(path.resolve(delivery.to));
  if (await isOther(target, entry.size)) return fail(TAKEN);
  const parent = path.dirname(target);
  await makeDirectories(parent);
  const names = temporaryNames(target, undefined);
  await removeLeftovers(parent, names, now);
  const staged = names.fresh('new');
  const count = countTransfer({ totalFiles: 1, totalBytes: entry.size }, onProgress);
  try {
    await downloadFile({ volume, entry, to: staged, onBytes: count.addBytes });
    const isPlaced = (await place(staged, target)) || (await isSame(staged, target));
    if (!isPlaced) return fail(TAKEN);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code !== 'EACCES' && code !== 'EROFS') throw error;
    return fail(`${parent} is not writable for this user; name another place`);
  } finally {
    await rm(staged, { force: true });
  }
  count.addFile();
  count.end();
  return ok([]);
}

/** False if the target exists. */
async function place(staged: string, target: string): Promise<boolean> {
  try {
    // Unlike a rename, a link fails if the name exists.
    await link(staged, target);
    return true;
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'EEXIST') return false;
    // The file system has no hard links.
    if (code !== 'EPERM' && code !== 'ENOTSUP') throw error;
    if ((await lstat(target).catch(absent)) !== undefined) return false;
    await rename(staged, target);
    return true;
  }
}

/** Whether something other than a file of this size exists. */
async function isOther(target: string, size: number): Promise<boolean> {
  const found = await lstat(target).catch(absent);
  return found !== undefined && (!found.isFile() || found.size !== size);
}

async function isSame(staged: string, target: string): Promise<boolean> {
  if (await isOther(target, (await lstat(staged)).size)) return false;
  return (await hashLocalFile(staged)) === (await hashLocalFile(target));
}

function absent(error: unknown): undefined {
  if (isSystemError(error, 'ENOENT')) return undefined;
  throw error;
}
