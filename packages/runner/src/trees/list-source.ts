import type { Stats } from 'node:fs';
import { lstat, readdir, readFile, readlink, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { bytesToName, nameOnDisk, printableName } from '@sluice/client';
import { HOME_MARK, isHomeMark } from '@sluice/host-system';
import { leadsOut } from './leads-out.ts';
import { type Exclusion, readExclusion } from './read-exclusion.ts';
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

interface FoundLink extends SourceLink {
  /** What it leads to, absolute; undefined for a broken link. */
  readonly real: string | undefined;
}

/** The entries found so far. */
interface Found {
  /** Absolute, without links. */
  readonly root: string;
  readonly home: string | undefined;
  readonly exclusion: Exclusion;
  readonly files: ListedFile[];
  readonly links: FoundLink[];
  /** Homes that were left out, absolute. */
  readonly homes: string[];
  readonly emptyDirectories: string[];
  readonly warnings: string[];
  /** Links that lead out of the source. */
  readonly outside: string[];
}

/** How to list a source. */
export interface SourceOptions {
  /** The home in use, which is left out. */
  readonly home: string;
  /** The patterns of the pipeline; see `readExclusion`. */
  readonly exclude?: readonly string[];
}

const NAMED = 3;
/** Projects have their home under this name. Others are recognized by their mark. */
const HOME = '.sluice';
const A_HOME = 'a home of Sluice, which contains logins';

/**
 * Lists a directory, or one file. Links are not followed; a link to something outside throws an error with its name. Left
 * out are excluded entries, homes, which contain logins and change during the upload, markers of delivered results, which
 * differ in each run, and special files, with a warning. Throws Node's own errors.
 */
export async function listSource(source: string, { home, exclude }: SourceOptions): Promise<ListedSource> {
  const root = await realpath(source);
  const lists = { files: [], links: [], homes: [], emptyDirectories: [], warnings: [], outside: [] };
  const top = await stat(root);
  const exclusion = await readExclusion(root, exclude);
  const found: Found = { root, home: await identify(home), exclusion, ...lists };
  if (isHome(found, path.basename(root), top)) throw new Error(`it is ${A_HOME}; name another directory`);
  if (top.isFile()) found.files.push({ path: path.basename(source), local: root, stats: top });
  else if (top.isDirectory()) await listDirectory(found, '');
  else throw new Error(`it is ${describeKind(top)}; name a file or a directory`);
  if (found.outside.length > 0) throw new Error(outsideMessage(found.outside.sort()));
  const byPath = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1);
  const isOutside = (at: string) => !isBelow(found.homes, `${root}/${at}`);
  return {
    files: found.files.filter((file) => isOutside(file.path)).sort(byPath),
    links: found.links
      .filter((link) => isOutside(link.path))
      .sort(byPath)
      .map((link) => withoutHomes(link, found.homes)),
    emptyDirectories: found.emptyDirectories.filter(isOutside).sort(),
    warnings: found.warnings.sort(),
  };
}

/** False: it is a home. */
async function listDirectory(found: Found, at: string): Promise<boolean> {
  const listed = await readdir(nameOnDisk(`${found.root}/${at}`), { encoding: 'buffer' });
  const names = listed.map(bytesToName);
  if (names.includes(HOME_MARK) && (await hasHomeMark(`${found.root}/${at}`))) {
    if (at === '') throw new Error(`it is ${A_HOME}; name another directory`);
    found.warnings.push(`left out ${printableName(at)}, ${A_HOME}`);
    found.homes.push(`${found.root}/${at}`);
    return false;
  }
  let isEmpty = true;
  for (const name of names) {
    if (await addEntry(found, at === '' ? name : `${at}/${name}`, name)) isEmpty = false;
  }
  if (isEmpty && at !== '') found.emptyDirectories.push(at);
  return true;
}

/** False: the entry does not belong to the source. */
async function addEntry(found: Found, at: string, name: string): Promise<boolean> {
  const local = nameOnDisk(`${found.root}/${at}`);
  const stats = await lstat(local);
  if (found.exclusion.excludes(at, stats.isDirectory())) return false;
  if (stats.isFile()) {
    if (name === RESULT_MARKER) return false;
    found.files.push({ path: at, local, stats });
    return true;
  }
  if (stats.isDirectory()) {
    if (!isHome(found, name, stats)) return listDirectory(found, at);
    found.homes.push(`${found.root}/${at}`);
    return false;
  }
  if (stats.isSymbolicLink()) return addLink(found, at, { name, local });
  found.warnings.push(`left out ${printableName(at)}, which is ${describeKind(stats)}`);
  return false;
}

async function addLink(
  found: Found,
  at: string,
  { name, local }: { readonly name: string; readonly local: string | Buffer },
): Promise<boolean> {
  const written = bytesToName(await readlink(local, { encoding: 'buffer' }));
  const real = await realpath(local, { encoding: 'buffer' }).then(bytesToName, () => undefined);
  const isInside = real === found.root || real?.startsWith(`${found.root}/`);
  const reached = real === undefined ? undefined : await stat(nameOnDisk(real));
  if (name === HOME && reached?.isDirectory()) {
    if (isInside && real !== found.root) found.homes.push(real!);
    return false;
  }
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
  const isLeftOut = isInside && real !== found.root && excludesReal(found, real!, reached);
  const reaches = isLeftOut ? undefined : reached?.isFile() ? 'file' : reached?.isDirectory() ? 'dir' : undefined;
  found.links.push({ path: at, target: target || '.', reaches, real });
  return true;
}

/** Whether what a link leads to is excluded. */
function excludesReal({ root, exclusion }: Found, real: string, reached: Stats | undefined): boolean {
  return exclusion.excludes(real.slice(root.length + 1), reached?.isDirectory() === true);
}

/** A directory that is a home by its name, or that of the command. */
function isHome({ home }: Found, name: string, stats: Stats): boolean {
  return stats.isDirectory() && (name === HOME || `${stats.dev}:${stats.ino}` === home);
}

async function hasHomeMark(directory: string): Promise<boolean> {
  const text = await readFile(nameOnDisk(`${directory}/${HOME_MARK}`), 'utf8').catch(() => '');
  return isHomeMark(text);
}

function isBelow(homes: readonly string[], at: string): boolean {
  return homes.some((home) => at === home || at.startsWith(`${home}/`));
}

/** A link into a home leads to nothing, since the home is left out. */
function withoutHomes({ real, ...link }: FoundLink, homes: readonly string[]): SourceLink {
  return real !== undefined && isBelow(homes, real) ? { ...link, reaches: undefined } : link;
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
