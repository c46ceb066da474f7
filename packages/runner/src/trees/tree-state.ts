import { createHash } from 'node:crypto';
import type { FileEntry, VolumeFiles } from '@sluice/client';
import { allowAbsent, walkTree } from './list-tree.ts';

/** What a tree of a volume was when it was still as published. Plain JSON data. */
export interface TreeState {
  readonly volumeID: string;
  readonly path: string;
  /** One directory for each cell: these, and the manifest that the runner writes beside them, are not compared. */
  readonly hasCells?: boolean;
  /** Sorted by path, which is relative to the tree; `''` for a tree that is one file. */
  readonly entries: readonly TreeEntry[];
}

interface TreeEntry {
  readonly path: string;
  readonly kind: 'file' | 'dir';
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
  readonly etag?: string;
  /** Target of a symlink. */
  readonly link?: string;
  /** SHA-256 of the content, of small files only. */
  readonly sha256?: string;
}

/** The first thing that is not as it was. */
export interface TreeChange {
  /** Relative to the tree. */
  readonly path: string;
  readonly how: 'changed' | 'added' | 'removed';
  /** How many others there are. */
  readonly others: number;
}

/** Contents are compared of so many files of a tree at most, each so small: every one costs a request. */
const MOST_CONTENTS = 16;
const SMALL = 64 * 1024;
const MANIFEST = 'manifest.json';

type Tree = Pick<TreeState, 'path' | 'hasCells'>;

/** Lists a tree as it is now, with one request for each directory, and the contents of a few small files without an ETag. */
export async function readTreeState(files: VolumeFiles, tree: Omit<TreeState, 'entries'>): Promise<TreeState> {
  const entries = await listEntries(files, tree);
  const small = entries.filter(
    ({ kind, size, etag, link }) => kind === 'file' && size <= SMALL && etag === undefined && link === undefined,
  );
  const hashed = new Map<string, string>();
  for (const { path } of small.slice(0, MOST_CONTENTS)) hashed.set(path, await hashFile(files, join(tree.path, path)));
  return { ...tree, entries: entries.map((entry) => withHash(entry, hashed.get(entry.path))) };
}

/** Compares what lies beneath `only` (default: the whole tree) with how it was; undefined where nothing has changed. */
export async function findTreeChange(
  files: VolumeFiles,
  { was, only = was.path }: { readonly was: TreeState; readonly only?: string },
): Promise<TreeChange | undefined> {
  const part = only.startsWith(`${was.path}/`) ? only.slice(was.path.length + 1) : '';
  const before = was.entries.filter(({ path }) => part === '' || path === part || path.startsWith(`${part}/`));
  const listed = await listEntries(files, { path: only, ...(part === '' && was.hasCells && { hasCells: true }) });
  const now = listed.map((entry) => ({ ...entry, path: join(part, entry.path) }));
  const changes = compare(
    before.filter(({ path }) => path !== part || part === ''),
    now,
  );
  if (changes.length > 0) return { ...changes[0]!, others: changes.length - 1 };
  for (const { path, sha256 } of before) {
    if (sha256 === undefined || sha256 === (await hashFile(files, join(was.path, path)))) continue;
    return { path, how: 'changed', others: 0 };
  }
  return undefined;
}

/** As a message names it. */
export function describeTreeChange({ path, how, others }: TreeChange): string {
  const more = others === 0 ? '' : `, and ${others} other ${others === 1 ? 'entry is' : 'entries are'} not as before`;
  return `${path === '' ? 'the file' : path} was ${how}${more}`;
}

async function listEntries(files: VolumeFiles, { path, hasCells }: Tree): Promise<TreeEntry[]> {
  const top = await files.stat(path);
  if (top?.kind === 'file') return [toEntry(top, path)];
  const entries: TreeEntry[] = [];
  for await (const found of walkTree(allowAbsent(files), path)) {
    const entry = toEntry(found, path);
    const isTop = !entry.path.includes('/');
    if (hasCells && isTop && (entry.kind === 'dir' || entry.path === MANIFEST)) continue;
    entries.push(entry);
  }
  return entries.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function toEntry({ path, kind, size, modifiedAt, etag, link }: FileEntry, tree: string): TreeEntry {
  const relative = path.slice(tree.length + 1);
  // What a link leads to is compared where it lies; what lies outside was never published.
  if (link !== undefined) return { path: relative, kind: 'file', size: 0, modifiedAt: 0, link };
  // A directory's time changes with what is in it, which is compared by itself.
  if (kind === 'dir') return { path: relative, kind, size: 0, modifiedAt: 0 };
  return { path: relative, kind, size, modifiedAt, ...(etag !== undefined && { etag }) };
}

function compare(before: readonly TreeEntry[], now: readonly TreeEntry[]): Omit<TreeChange, 'others'>[] {
  const old = new Map(before.map((entry) => [entry.path, entry]));
  const changes: Omit<TreeChange, 'others'>[] = [];
  for (const entry of now) {
    const was = old.get(entry.path);
    old.delete(entry.path);
    if (was === undefined) changes.push({ path: entry.path, how: 'added' });
    else if (!isSame(was, entry)) changes.push({ path: entry.path, how: 'changed' });
  }
  for (const path of old.keys()) changes.push({ path, how: 'removed' });
  // What is in a directory that came or went says less than the files themselves, which come first.
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function isSame(a: TreeEntry, b: TreeEntry): boolean {
  if (a.kind !== b.kind || a.size !== b.size || a.link !== b.link) return false;
  if (a.etag !== undefined && b.etag !== undefined && a.etag !== b.etag) return false;
  return isSameTime(a.modifiedAt, b.modifiedAt);
}

/** WebDAV tells whole seconds; a service that is embedded tells more. */
function isSameTime(a: number, b: number): boolean {
  if (a % 1000 !== 0 && b % 1000 !== 0) return a === b;
  return Math.floor(a / 1000) === Math.floor(b / 1000);
}

function withHash(entry: TreeEntry, sha256: string | undefined): TreeEntry {
  return sha256 === undefined ? entry : { ...entry, sha256 };
}

async function hashFile(files: VolumeFiles, path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of await files.read(path)) hash.update(chunk);
  return hash.digest('hex');
}

function join(path: string, more: string): string {
  return path === '' || more === '' ? path + more : `${path}/${more}`;
}
