import { ServiceError } from '../service-error.ts';
import type { FileEntry, VolumeFiles } from '../volume-files.ts';
import type { DavClient } from './dav-client.ts';
import { parentPath } from './volume-path.ts';
import { partBeside } from './write-file.ts';

/** Files that are streamed at once where the server does not copy. */
const STREAMS = 4;

/** A service that names directories without end gets no further. */
const MAX_ENTRIES = 1_000_000;

interface Copy {
  readonly from: string;
  readonly to: string;
  readonly what: string;
}

/**
 * Copies under a name of its own beside `to`, then moves that there in one step: servers copy a directory piece by
 * piece, so a copy that was interrupted must never stand at `to`. Where the server refuses COPY, every file is streamed.
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
  // What a try whose reply was lost has copied; of the one that was moved nothing is left.
  for (const part of used.slice(1)) await dav.remove(part, what).catch(() => {});
}

/** The name that now holds a complete copy, or undefined where the server does not copy. `used` gets every name tried. */
async function copyToPart(dav: DavClient, copying: Copy & { used: string[] }): Promise<string | undefined> {
  const { from, to, what, used } = copying;
  const once = async () => {
    // A name of its own for each try: what a lost one has left may be half of it, and may still grow.
    const part = partBeside(to);
    used.unshift(part);
    return { part, outcome: await dav.copy(from, { to: part, what }) };
  };
  let tried = await dav.again(once, what);
  if (tried.outcome === 'noParent') {
    await dav.makeCollections(parentPath(to) ?? '');
    tried = await dav.again(once, what);
  }
  if (tried.outcome === 'absent') throw new ServiceError('NOT_FOUND', `Could not ${what}: nothing is there`);
  if (tried.outcome === 'moved') return tried.part;
  // What a server has copied of it before it refused.
  await dav.remove(tried.part, what);
  return undefined;
}

async function streamToPart(files: VolumeFiles, copying: { from: string; part: string; what: string }): Promise<void> {
  const { from, part, what } = copying;
  const source = await files.stat(from);
  if (source === undefined) throw new ServiceError('NOT_FOUND', `Could not ${what}: nothing is there`);
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

/** Makes every directory of the tree, empty ones too, and gives the files and links that are to be copied. */
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
    throw new ServiceError('INVALID_REPLY', `Could not copy ${from}: it has more than ${MAX_ENTRIES} entries`);
  }
  return found;
}

function occupied(what: string): ServiceError {
  return new ServiceError('ALREADY_EXISTS', `Could not ${what}: the target is there`);
}
