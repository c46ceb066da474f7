import { renameSync } from 'node:fs';
import { rmdir, unlink } from 'node:fs/promises';
import { isSystemError, systemErrorCode } from '@sluice/host-system';
import { placeIn, walkLocalTree } from './local-tree.ts';
import { RESULT_MARKER, readMarker } from './result-marker.ts';

/** Each process that replaces the same directory concurrently costs one try. */
const TRIES = 100;

/**
 * Renames the directory `next` to `target`, where another directory may exist. The name is free only between two renames,
 * and of concurrent replacements the last one wins as a whole. The previous directory is renamed to a name returned by
 * `nameAside`. Throws Node's own errors; then `target` is unchanged.
 */
export function replaceDirectory(next: string, target: string, nameAside: () => string): void {
  for (let tries = 1; ; tries++) {
    try {
      renameSync(next, target);
      return;
    } catch (error) {
      if (!isTaken(error) || tries > TRIES) throw error;
    }
    const old = nameAside();
    try {
      renameSync(target, old);
    } catch (error) {
      if (isSystemError(error, 'ENOENT')) continue;
      throw error;
    }
    try {
      renameSync(next, target);
      return;
    } catch (error) {
      // Another process was faster: its directory is replaced with the next try.
      if (isTaken(error) && tries <= TRIES) continue;
      renameSync(old, target);
      throw error;
    }
  }
}

function isTaken(error: unknown): boolean {
  const code = systemErrorCode(error);
  return code === 'ENOTEMPTY' || code === 'EEXIST';
}

/**
 * Removes a previous result: the files that its marker lists, and the marker last, so that an interrupted removal can be
 * continued. False: the directory contains other files, which are kept.
 */
export async function removeResult(directory: string): Promise<boolean> {
  try {
    return await removeFiles(directory);
  } catch (error) {
    // Another process has removed it.
    if (isSystemError(error, 'ENOENT')) return true;
    throw error;
  }
}

async function removeFiles(directory: string): Promise<boolean> {
  const marker = await readMarker(directory);
  const ours = new Set(marker?.files);
  const directories: string[] = [];
  let isWhole = true;
  for await (const { path, kind } of walkLocalTree(directory)) {
    if (kind === 'dir') directories.push(path);
    else if (ours.has(path)) await ignoring(['ENOENT'], unlink(placeIn(directory, path)));
    else if (path !== RESULT_MARKER) isWhole = false;
  }
  const gone = ['ENOENT', 'ENOTEMPTY', 'EEXIST'];
  for (const path of directories.reverse()) await ignoring(gone, rmdir(placeIn(directory, path)));
  if (!isWhole) return false;
  if (marker) await ignoring(['ENOENT'], unlink(placeIn(directory, RESULT_MARKER)));
  await ignoring(gone, rmdir(directory));
  return true;
}

/** Another process may remove the same files concurrently. */
async function ignoring(codes: readonly string[], done: Promise<void>): Promise<void> {
  try {
    await done;
  } catch (error) {
    if (!isSystemError(error, ...codes)) throw error;
  }
}
