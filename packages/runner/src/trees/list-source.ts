import type { Stats } from 'node:fs';
import { lstat, readdir, readlink, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { bytesToName, nameOnDisk, printableName } from '@sluice/client';
import { leadsOut } from './leads-out.ts';
import { RESULT_MARKER } from './result-marker.ts';

/** A regular file of a source. */
export interface ListedFile {
  /** Relative to the source, `/`-separated. */
  readonly path: string;
  readonly local: string | Buffer;
  readonly stats: Stats;
}

/** A symlink that stays inside the source. */
export interface SourceLink {
  readonly path: string;
  /** Relative. */
  readonly target: string;
  /** What it leads to; undefined for a broken link. */
  readonly reaches: 'file' | 'dir' | undefined;
}

/** The content of a source; each list is sorted by path. */
export interface ListedSource {
  readonly files: readonly ListedFile[];
  readonly links: readonly SourceLink[];
  /** Directories without an entry that belongs to the source. */
  readonly emptyDirectories: readonly string[];
  readonly warnings: readonly string[];
}

/** The entries found so far. */
interface Found {
  /** Absolute, without links. */
  readonly root: string;
  readonly home: string | undefined;
  readonly files: ListedFile[];
  readonly links: SourceLink[];
  readonly emptyDirectories: string[];
  readonly warnings: string[];
  /** Links that lead out of the source. */
  readonly outside: string[];
}

const NAMED = 3;

/**
 * Lists a directory, or one file. Links are not followed; a link to something outside throws an error with its name. Left
 * out are the home, which contains logins and changes during the upload, markers of delivered results, which differ in
 * each run, and special files, with a warning. Throws Node's own errors.
 */
export async function listSource(source: string, home: string): Promise<ListedSource> {
  const root = await realpath(source);
  const lists = { files: [], links: [], emptyDirectories: [], warnings: [], outside: [] };
  const found: Found = { root, home: await identify(home), ...lists };
  const top = await stat(root);
  if (top.isFile()) found.files.push({ path: path.basename(source), local: root, stats: top });
  else if (top.isDirectory()) await listDirectory(found, '');
  else throw new Error(`it is ${describeKind(top)}; name a file or a directory`);
  if (found.outside.length > 0) throw new Error(outsideMessage(found.outside.sort()));
  const byPath = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1);
  return {
    files: found.files.sort(byPath),
    links: found.links.sort(byPath),
    emptyDirectories: found.emptyDirectories.sort(),
    warnings: found.warnings.sort(),
  };
}

async function listDirectory(found: Found, at: string): Promise<void> {
  const names = await readdir(nameOnDisk(`${found.root}/${at}`), { encoding: 'buffer' });
  let isEmpty = true;
  for (const bytes of names) {
    const name = bytesToName(bytes);
    if (await addEntry(found, at === '' ? name : `${at}/${name}`, name)) isEmpty = false;
  }
  if (isEmpty && at !== '') found.emptyDirectories.push(at);
}

/** False: the entry does not belong to the source. */
async function addEntry(found: Found, at: string, name: string): Promise<boolean> {
  const local = nameOnDisk(`${found.root}/${at}`);
  const stats = await lstat(local);
  if (stats.isFile()) {
    if (name === RESULT_MARKER) return false;
    found.files.push({ path: at, local, stats });
    return true;
  }
  if (stats.isDirectory()) {
    if (`${stats.dev}:${stats.ino}` === found.home) return false;
    await listDirectory(found, at);
    return true;
  }
  if (stats.isSymbolicLink()) return addLink(found, at, local);
  found.warnings.push(`left out ${printableName(at)}, which is ${describeKind(stats)}`);
  return false;
}

async function addLink(found: Found, at: string, local: string | Buffer): Promise<boolean> {
  const written = bytesToName(await readlink(local, { encoding: 'buffer' }));
  const real = await realpath(local, { encoding: 'buffer' }).then(bytesToName, () => undefined);
  const isInside = real === found.root || real?.startsWith(`${found.root}/`);
  // In the container, an absolute target would be another place, or nothing.
  const target =
    isInside && written.startsWith('/') ? path.relative(path.dirname(`${found.root}/${at}`), real!) : written;
  if (real !== undefined && (!isInside || leadsOut(at, target || '.'))) {
    found.outside.push(`${at} -> ${written}`);
    return true;
  }
  if (real === undefined && leadsOut(at, target)) {
    found.warnings.push(`left out ${printableName(at)}, a link to ${printableName(written)}, which does not exist`);
    return false;
  }
  const reached = real === undefined ? undefined : await stat(nameOnDisk(real));
  const reaches = reached?.isFile() ? 'file' : reached?.isDirectory() ? 'dir' : undefined;
  found.links.push({ path: at, target: target || '.', reaches });
  return true;
}

function outsideMessage(links: readonly string[]): string {
  const named = links.slice(0, NAMED).map((link) => JSON.stringify(printableName(link)));
  const more = links.length > NAMED ? ` and ${links.length - NAMED} more` : '';
  return `it has links that lead out of it: ${named.join(', ')}${more}; replace them with the files, or use their directory as another source`;
}

function describeKind(stats: Stats): string {
  if (stats.isFIFO()) return 'a named pipe';
  if (stats.isSocket()) return 'a socket';
  return 'a device';
}

function identify(directory: string): Promise<string | undefined> {
  return stat(directory).then(
    ({ dev, ino }) => `${dev}:${ino}`,
    () => undefined,
  );
}
