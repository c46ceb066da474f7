import type { Stats } from 'node:fs';
import { type FileEntry, ServiceError, type VolumeFiles } from '@sluice/client';
import { type ConfinedTree, openConfinedTree, TEMPORARY_PREFIX } from './confined-tree.ts';
import { errnoOf } from './file-errors.ts';
import { fileFailure } from './file-failure.ts';
import { readRange } from './file-range.ts';
import { removeTree } from './remove-tree.ts';
import { checkVolumePath, joinVolumePath, splitVolumePath } from './volume-path.ts';
import { createWholeFile, type WholeFile } from './whole-file.ts';

/**
 * The files of the volume whose root is the directory `root`, without a server between. Nothing is opened before the
 * first use, and nothing stays open after a call. Links are followed where they stay inside (see `ConfinedTree`).
 */
export function createDirectFiles(root: string): VolumeFiles {
  let opened: ConfinedTree | undefined;
  const tree = () => {
    opened ??= openConfinedTree(root);
    return opened;
  };
  return {
    stat: (path) => attempt(`stat '${path}'`, path, () => entryOf(path, tree().stat(path))),
    list: (path) => attempt(`list '${path}'`, path, () => listEntries(tree(), path)),
    read: (path, range) => attempt(`read '${path}'`, path, () => readRange(tree(), path, range)),
    write: (path, body, options = {}) =>
      attempt(`write '${path}'`, path, () => writeFile(tree(), { path, body, ...options })),
    makeDirectory: (path) => attempt(`make the directory '${path}'`, path, () => tree().makeDirectories(path)),
    async move(from, to) {
      requirePath(`move '${from}' to '${to}'`, from);
      return attempt(`move '${from}' to '${to}'`, to, () => moveTo(tree(), from, to));
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
  if (fault !== undefined) throw new ServiceError('INVALID_ARGUMENT', `cannot ${action}: ${fault}`);
}

function isTemporary(path: string): boolean {
  return path.includes(TEMPORARY_PREFIX) && path.split('/').some((segment) => segment.startsWith(TEMPORARY_PREFIX));
}

function entryOf(path: string, stats: Stats | undefined): FileEntry | undefined {
  if (stats === undefined || !(stats.isFile() || stats.isDirectory())) return undefined;
  const kind = stats.isDirectory() ? 'dir' : 'file';
  return { path, kind, size: kind === 'dir' ? 0 : stats.size, modifiedAt: Math.floor(stats.mtimeMs) };
}

async function listEntries(tree: ConfinedTree, path: string): Promise<FileEntry[]> {
  const entries: FileEntry[] = [];
  for await (const { name, stats } of tree.list(path)) {
    entries.push(entryOf(joinVolumePath(path, name), stats) as FileEntry);
  }
  return entries;
}

interface Write {
  readonly path: string;
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
  readonly size?: number;
  readonly executable?: boolean;
}

async function writeFile(tree: ConfinedTree, { path, body, size, executable }: Write): Promise<void> {
  const file = beginFile(tree, path, executable);
  try {
    let written = 0;
    for await (const bytes of body instanceof Uint8Array ? [body] : body) {
      written += bytes.length;
      await file.write(bytes);
    }
    if (size !== undefined && size !== written) {
      throw new ServiceError('INVALID_ARGUMENT', `cannot write '${path}': ${written} bytes came instead of ${size}`);
    }
    file.commit();
  } catch (error) {
    file.discard();
    throw error;
  }
}

/** Makes the directories above only when they are missing: mostly they are there, and the look costs as much as the rest. */
function beginFile(tree: ConfinedTree, path: string, executable: boolean | undefined): WholeFile {
  if (path === '') throw Object.assign(new Error('the root is a directory'), { code: 'EISDIR' });
  const options = executable === undefined ? {} : { mode: executable ? 0o755 : 0o644 };
  try {
    return createWholeFile(tree, path, options);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
  tree.makeDirectories(splitVolumePath(path).parent);
  return createWholeFile(tree, path, options);
}

function moveTo(tree: ConfinedTree, from: string, to: string): void {
  if (from === '' || to === '') throw new ServiceError('INVALID_ARGUMENT', 'cannot move the root of the volume');
  if (to === from || to.startsWith(`${from}/`)) {
    throw new ServiceError('INVALID_ARGUMENT', `cannot move '${from}' to '${to}': that is itself or inside itself`);
  }
  try {
    tree.renameNew(from, to);
  } catch (error) {
    // Nothing at `from`, or no directory for `to`: the second try tells.
    if (errnoOf(error) !== 'ENOENT' || tree.lstat(from) === undefined) throw error;
    tree.makeDirectories(splitVolumePath(to).parent);
    tree.renameNew(from, to);
  }
}

async function remove(tree: ConfinedTree, path: string): Promise<void> {
  if (path === '') throw new ServiceError('INVALID_ARGUMENT', 'cannot remove the root of the volume');
  await removeTree(tree, path);
}
