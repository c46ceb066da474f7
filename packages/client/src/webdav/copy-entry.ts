import { ServiceError } from '../service-error.ts';
import type { FileEntry, VolumeFiles } from '../volume-files.ts';
import type { DavClient } from './dav-client.ts';
import { parentPath } from './volume-path.ts';
import { partBeside } from './write-file.ts';

/** Concurrent streams if the server does not copy. */
const STREAMS = 4;

/** Limit for a tree that never ends. */
const MAX_ENTRIES = 1_000_000;

interface Copy {
  readonly from: string;
  readonly to: string;
  readonly what: string;
}

/**
 * Copies to a unique name beside `to`, then moves it into place in one step: servers copy directories file by file, so
 * an interrupted copy must never be visible at `to`. If the server rejects COPY, every file is streamed.
 */
export async function copyEntry(dav: DavClient, files: VolumeFiles, { from, to, what }: Copy): Promise<void> {
  if ((await files.stat(to)) !== undefined) throw occupied(what);
  const used: string[] = [];
  try {
    const part = await copyToPart(dav, { from, to, what, used });
    if (part === undefined) await streamToPart(files, { from, part: used[0]!, what });
    await files.move(part ?? used[0]!, to);
  } catch (error) {
    for (const part of used) await dav.remove(part, what).catch(() => {});
    throw error;
  }
  // Removes what attempts with a lost reply have copied; the moved one no longer exists.
  for (const part of used.slice(1)) await dav.remove(part, what).catch(() => {});
}

/**
 * Returns the name of the complete copy, or undefined if the server does not copy. `used` collects every name tried.
 */
async function copyToPart(dav: DavClient, copying: Copy & { used: string[] }): Promise<string | undefined> {
  const { from, to, what, used } = copying;
  const once = async () => {
    // Each attempt has its own name: a lost one may be incomplete and still growing.
    const part = partBeside(to);
    used.unshift(part);
    return { part, outcome: await dav.copy(from, { to: part, what }) };
  };
  let tried = await dav.again(once, what);
  if (tried.outcome === 'noParent') {
    await dav.makeCollections(parentPath(to) ?? '');
    tried = await dav.again(once, what);
  }
  if (tried.outcome === 'absent') throw new ServiceError('NOT_FOUND', `could not ${what}: nothing is there`);
  if (tried.outcome === 'moved') return tried.part;
  // Removes what the server copied before it rejected.
  await dav.remove(tried.part, what);
  return undefined;
}

async function streamToPart(files: VolumeFiles, copying: { from: string; part: string; what: string }): Promise<void> {
  const { from, part, what } = copying;
  const source = await files.stat(from);
  if (source === undefined) throw new ServiceError('NOT_FOUND', `could not ${what}: nothing is there`);
  const waiting = source.kind === 'file' ? [source] : await makeDirectories(files, from, part);
  const stream = async () => {
    for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
      const target = part + entry.path.slice(from.length);
      if (entry.link !== undefined && (await files.link(target, entry.link))) continue;
      const { size, executable = false } = entry;
      await files.write(target, await files.read(entry.path), { size, executable });
    }
  };
  await Promise.all(Array.from({ length: STREAMS }, stream));
}

/** Creates every directory of the tree, empty ones included, and returns the files and links to copy. */
async function makeDirectories(files: VolumeFiles, from: string, part: string): Promise<FileEntry[]> {
  const found: FileEntry[] = [];
  const directories = [from];
  for (let path = directories.pop(); path !== undefined; path = directories.pop()) {
    await files.makeDirectory(part + path.slice(from.length));
    for (const entry of await files.list(path)) {
      if (entry.kind === 'file' || entry.link !== undefined) found.push(entry);
      else directories.push(entry.path);
    }
    if (found.length + directories.length <= MAX_ENTRIES) continue;
    throw new ServiceError('INVALID_REPLY', `could not copy ${from}: it has more than ${MAX_ENTRIES} entries`);
  }
  return found;
}

function occupied(what: string): ServiceError {
  return new ServiceError('ALREADY_EXISTS', `could not ${what}: the target is there`);
}
