import type { Stats } from 'node:fs';
import { type FileEntry, ServiceError, type VolumeFiles } from '@sluice/client';
import { isSystemError } from '@sluice/host-system';
import { checkAnswer } from '../../storage/storage-access.ts';
import { type ConfinedTree, openConfinedTree, TEMPORARY_PREFIX } from './confined-tree.ts';
import { copyTree } from './copy-tree.ts';
import { errno } from './file-errors.ts';
import { fileFailure } from './file-failure.ts';
import { readRange } from './file-range.ts';
import { removeLater, removeTree } from './remove-tree.ts';
import { temporaryBeside } from './temporary-name.ts';
import type { TreeOptions } from './tree-options.ts';
import { checkVolumePath, joinVolumePath, splitVolumePath } from './volume-path.ts';
import { createWholeFile, type WholeFile } from './whole-file.ts';

/**
 * Access to the files of the volume in the directory `root` without a server. Opens nothing before the first call, and keeps
 * nothing open after a call. The caller checks before each call that the storage answers. Follows links that stay inside (see `ConfinedTree`).
 */
export function createDirectFiles(root: string, options?: TreeOptions): VolumeFiles {
  let opened: ConfinedTree | undefined;
  const tree = () => {
    opened ??= openConfinedTree(root, options);
    return opened;
  };
  return {
    stat: (path) => attempt(`stat '${path}'`, path, () => entryOf(path, tree().stat(path))),
    list: (path) => attempt(`list '${path}'`, path, () => listEntries(tree(), path)),
    read: (path, range) => attempt(`read '${path}'`, path, () => readRange(tree(), path, range)),
    write: (path, body, options = {}) =>
      attempt(`write '${path}'`, path, () => writeFile(tree(), { path, body, ...options })),
    link: (path, target) => attempt(`make the link '${path}'`, path, () => makeLink(tree(), path, target)),
    makeDirectory: (path) => attempt(`make the directory '${path}'`, path, () => makeDirectory(tree(), path)),
    async move(from, to) {
      requirePath(`move '${from}' to '${to}'`, from);
      return attempt(`move '${from}' to '${to}'`, to, () => moveTo(tree(), from, to));
    },
    async copy(from, to) {
      requirePath(`copy '${from}' to '${to}'`, from);
      return attempt(`copy '${from}' to '${to}'`, to, () => copyTo(tree(), from, to));
    },
    remove: (path) => attempt(`remove '${path}'`, path, () => remove(tree(), path)),
  };
}

async function attempt<T>(action: string, path: string, work: () => T | Promise<T>): Promise<T> {
  requirePath(action, path);
  try {
    return await work();
  } catch (error) {
    throw fileFailure(action, error);
  }
}

function requirePath(action: string, path: string): void {
  const fault = checkVolumePath(path) ?? (isTemporary(path) ? 'the name is reserved' : undefined);
  if (fault !== undefined) throw new ServiceError('INVALID_ARGUMENT', `could not ${action}: ${fault}`);
}

function isTemporary(path: string): boolean {
  return path.includes(TEMPORARY_PREFIX) && path.split('/').some((segment) => segment.startsWith(TEMPORARY_PREFIX));
}

function entryOf(path: string, stats: Stats | undefined): FileEntry | undefined {
  if (stats === undefined || !(stats.isFile() || stats.isDirectory())) return undefined;
  return describe(path, stats);
}

function describe(path: string, stats: Stats): FileEntry {
  const modifiedAt = Math.floor(stats.mtimeMs);
  if (stats.isDirectory()) return { path, kind: 'dir', size: 0, modifiedAt };
  if (!stats.isFile()) return { path, kind: 'file', size: 0, modifiedAt };
  return { path, kind: 'file', size: stats.size, modifiedAt, executable: (stats.mode & 0o100) !== 0 };
}

async function listEntries(tree: ConfinedTree, path: string): Promise<FileEntry[]> {
  const entries: FileEntry[] = [];
  for await (const { name, stats, link } of tree.list(path, 'all')) {
    const entry = describe(joinVolumePath(path, name), stats);
    entries.push(link === undefined ? entry : { ...entry, link });
  }
  return entries;
}

interface Write {
  readonly path: string;
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
  readonly size?: number | undefined;
  readonly executable?: boolean | undefined;
}

async function writeFile(tree: ConfinedTree, { path, body, size, executable }: Write): Promise<void> {
  const file = beginFile(tree, path, { size: body instanceof Uint8Array ? body.length : size, executable });
  try {
    let written = 0;
    for await (const bytes of body instanceof Uint8Array ? [body] : body) {
      written += bytes.length;
      await file.write(bytes);
    }
    if (size !== undefined && size !== written) {
      throw new ServiceError(
        'INVALID_ARGUMENT',
        `could not write '${path}': received ${written} bytes instead of ${size}`,
      );
    }
    await file.finish();
    file.commit();
  } catch (error) {
    await file.discard();
    throw error;
  }
}

/** Creates parent directories only if they are missing: they usually exist, and checking them would double the cost. */
function beginFile(tree: ConfinedTree, path: string, { size, executable }: Omit<Write, 'path' | 'body'>): WholeFile {
  if (path === '') throw Object.assign(new Error('the root is a directory'), { code: 'EISDIR' });
  const options = { size, mode: executable === undefined ? undefined : executable ? 0o755 : 0o644 };
  try {
    return createWholeFile(tree, path, options);
  } catch (error) {
    if (!isSystemError(error, 'ENOENT')) throw error;
  }
  tree.makeDirectories(splitVolumePath(path).parent);
  return createWholeFile(tree, path, options);
}

function makeDirectory(tree: ConfinedTree, path: string): void {
  tree.space.check();
  tree.makeDirectories(path);
}

/** Succeeds if the same link already exists, because a caller may repeat a request whose response was lost. */
function makeLink(tree: ConfinedTree, path: string, target: string): boolean {
  if (path === '') throw new ServiceError('INVALID_ARGUMENT', 'cannot make a link of the root of the volume');
  tree.makeDirectories(splitVolumePath(path).parent);
  if (tree.lstat(path)?.isSymbolicLink() && tree.readLink(path) === target) return true;
  tree.symlink(target, path);
  return true;
}

function moveTo(tree: ConfinedTree, from: string, to: string): void {
  if (from === '' || to === '') throw new ServiceError('INVALID_ARGUMENT', 'cannot move the root of the volume');
  if (to === from || to.startsWith(`${from}/`)) {
    throw new ServiceError(
      'INVALID_ARGUMENT',
      `could not move '${from}' to '${to}': the destination is the source or inside it`,
    );
  }
  try {
    tree.renameNew(from, to);
  } catch (error) {
    // Either `from` or the parent of `to` is missing: the second attempt finds out.
    if (!isSystemError(error, 'ENOENT') || tree.lstat(from) === undefined) throw error;
    tree.makeDirectories(splitVolumePath(to).parent);
    tree.renameNew(from, to);
  }
}

/**
 * Copies to a temporary name beside `to` first, so that readers of `to` never see a partial copy, even if the service dies.
 */
async function copyTo(tree: ConfinedTree, from: string, to: string): Promise<void> {
  if (from === '' || to === '') throw new ServiceError('INVALID_ARGUMENT', 'cannot copy the root of the volume');
  const source = tree.realPath(from);
  const { parent, name } = splitVolumePath(to);
  if (tree.stat(source) === undefined) throw errno('ENOENT', `could not copy '${from}': it does not exist`);
  if (tree.lstat(to) !== undefined && from !== to)
    throw errno('EEXIST', `could not copy to '${to}': it already exists`);
  if (to === from || to.startsWith(`${from}/`)) throw copyIntoItself(from, to);
  tree.makeDirectories(parent);
  const target = joinVolumePath(tree.realPath(parent), name);
  if (target.startsWith(`${source}/`)) throw copyIntoItself(from, to);
  const temporary = temporaryBeside(target);
  try {
    await copyTree(tree, { from: source, to: temporary, members: true });
    await checkAnswer(tree.storage);
    tree.renameNew(temporary, target);
  } catch (error) {
    await removeLater(tree, temporary);
    throw error;
  }
}

function copyIntoItself(from: string, to: string): ServiceError {
  return new ServiceError(
    'INVALID_ARGUMENT',
    `could not copy '${from}' to '${to}': the destination is the source or inside it`,
  );
}

async function remove(tree: ConfinedTree, path: string): Promise<void> {
  if (path === '') throw new ServiceError('INVALID_ARGUMENT', 'cannot remove the root of the volume');
  await removeTree(tree, path);
}
