import type { FileEntry, VolumeFiles } from '@sluice/client';
import { hashFile } from './hash-file.ts';
import { allowAbsent, walkTree } from './list-tree.ts';

/** The state of a tree in a volume when it was published. Plain JSON data. */
export interface TreeState {
  readonly volumeID: string;
  readonly path: string;
  /**
   * The tree has one directory for each cell, which may be nested. Of it, only files are compared, without the manifest:
   * mount points for cells that are elsewhere are created in it.
   */
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

/** The first changed entry of a tree. */
export interface TreeChange {
  /** Relative to the tree. */
  readonly path: string;
  readonly how: 'changed' | 'added' | 'removed';
  /** The number of other changed entries. */
  readonly others: number;
}

/** The contents of at most this many files of a tree are compared, and only of small ones: each costs a request. */
const MAX_CONTENTS = 16;
const SMALL = 64 * 1024;
const MANIFEST = 'manifest.json';

type Tree = Pick<TreeState, 'path' | 'hasCells'>;

/** Reads the present state of a tree, with one request for each directory, and one for each of a few files without an ETag. */
export async function readTreeState(files: VolumeFiles, tree: Omit<TreeState, 'entries'>): Promise<TreeState> {
  const entries = await listEntries(files, tree, { isWhole: true });
  const small = entries.filter(
    ({ kind, size, etag, link }) => kind === 'file' && size <= SMALL && etag === undefined && link === undefined,
  );
  const hashed = new Map<string, string>();
  for (const { path } of small.slice(0, MAX_CONTENTS)) hashed.set(path, await hashFile(files, join(tree.path, path)));
  return { ...tree, entries: entries.map((entry) => withHash(entry, hashed.get(entry.path))) };
}

/** Compares the part `only` (default: the whole tree) with its recorded state; undefined if nothing has changed. */
export async function findTreeChange(
  files: VolumeFiles,
  { was, only = was.path }: { readonly was: TreeState; readonly only?: string },
): Promise<TreeChange | undefined> {
  const part = only.startsWith(`${was.path}/`) ? only.slice(was.path.length + 1) : '';
  const before = was.entries.filter(
    ({ path, kind }) =>
      (part === '' || path === part || path.startsWith(`${part}/`)) && !(was.hasCells === true && kind === 'dir'),
  );
  const listed = await listEntries(files, { ...was, path: only }, { isWhole: part === '' });
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

/** The change in words, for a message. */
export function describeTreeChange({ path, how, others }: TreeChange): string {
  const more = others === 0 ? '' : `, and ${others} other ${others === 1 ? 'entry is' : 'entries are'} not as before`;
  return `${path === '' ? 'the file' : path} was ${how}${more}`;
}

async function listEntries(
  files: VolumeFiles,
  { path, hasCells }: Tree,
  { isWhole }: { readonly isWhole: boolean },
): Promise<TreeEntry[]> {
  const top = await files.stat(path);
  if (top?.kind === 'file') return [toEntry(top, path)];
  const entries: TreeEntry[] = [];
  for await (const found of walkTree(allowAbsent(files), path)) {
    const entry = toEntry(found, path);
    if (hasCells && (entry.kind === 'dir' || (isWhole && entry.path === MANIFEST))) continue;
    entries.push(entry);
  }
  return entries.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function toEntry({ path, kind, size, modifiedAt, etag, link }: FileEntry, tree: string): TreeEntry {
  const relative = path.slice(tree.length + 1);
  // The target of a link is compared as an entry of its own, or was never published.
  if (link !== undefined) return { path: relative, kind: 'file', size: 0, modifiedAt: 0, link };
  // A directory's time changes with its entries, which are compared themselves.
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
  // Sorted, so that messages are deterministic, and a directory comes before its content.
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function isSame(a: TreeEntry, b: TreeEntry): boolean {
  if (a.kind !== b.kind || a.size !== b.size || a.link !== b.link) return false;
  if (a.etag !== undefined && b.etag !== undefined && a.etag !== b.etag) return false;
  return isSameTime(a.modifiedAt, b.modifiedAt);
}

/** WebDAV has whole seconds, the embedded service milliseconds. */
function isSameTime(a: number, b: number): boolean {
  if (a % 1000 !== 0 && b % 1000 !== 0) return a === b;
  return Math.floor(a / 1000) === Math.floor(b / 1000);
}

function withHash(entry: TreeEntry, sha256: string | undefined): TreeEntry {
  return sha256 === undefined ? entry : { ...entry, sha256 };
}

function join(path: string, more: string): string {
  return path === '' || more === '' ? path + more : `${path}/${more}`;
}
