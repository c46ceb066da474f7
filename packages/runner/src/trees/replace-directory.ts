import { renameSync } from 'node:fs';
import { rmdir, unlink } from 'node:fs/promises';
import { isSystemError, systemErrorCode } from '@sluice/host-system';
import { placeIn, walkLocalTree } from './local-tree.ts';
import { RESULT_MARKER, readMarker } from './result-marker.ts';

/** Others that replace the same directory at the same time each take one try. */
const TRIES = 100;

/**
 * Gives the directory `next` the name `target`, where another directory may be. Nothing but two renames happens while
 * the name is free, and the last of several that do this at once wins as a whole. What was there before lies under
 * names of `nameAside` then. Throws Node's own errors; then `target` is what it was.
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
      // Another one was faster: what it put there is replaced in its turn.
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
 * Removes a former result: the files that its marker names, the marker last, so that a removal that was cut off can be
 * taken up. False: it holds other files, which stay.
 */
export async function removeResult(directory: string): Promise<boolean> {
  try {
    return await removeFiles(directory);
  } catch (error) {
    // Another process that removes the same was faster.
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

/** Another process may remove the same at the same time. */
async function ignoring(codes: readonly string[], done: Promise<void>): Promise<void> {
  try {
    await done;
  } catch (error) {
    if (!isSystemError(error, ...codes)) throw error;
  }
}
