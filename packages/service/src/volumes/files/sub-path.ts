import { closeSync, constants, lstatSync, type Stats } from 'node:fs';
import { ServiceError } from '@sluice/client';
import { isSystemError } from '@sluice/host-system';
import type { ConfinedTree } from './confined-tree.ts';
import { errno } from './file-errors.ts';
import { fileFailure } from './file-failure.ts';
import { type HeldDirectory, within } from './held-directory.ts';
import { makeIn } from './inherit-owner.ts';
import { checkVolumePath, splitVolumePath } from './volume-path.ts';

/**
 * Checks that `subPath` of the volume `tree` can be mounted, and returns its kind. With `kind` it is created if missing,
 * with its parents; without, it must exist. No symlink may be on the path, not even one that stays inside the volume,
 * because the engine mounts exactly this path. Throws `ServiceError`: `INVALID_ARGUMENT` for what the caller can fix,
 * `NOT_FOUND` for what does not exist.
 */
export function ensureSubPath(tree: ConfinedTree, subPath: string, kind?: 'dir' | 'file'): 'dir' | 'file' {
  const action = `mount '${subPath}' of the volume`;
  const fault = checkVolumePath(subPath);
  if (fault !== undefined) throw new ServiceError('INVALID_ARGUMENT', `could not ${action}: ${fault}`);
  try {
    const found = ensure(tree, subPath, kind);
    if (kind !== undefined && found !== kind) {
      throw new ServiceError('INVALID_ARGUMENT', `could not ${action} as ${kind}: a ${found} is there`);
    }
    return found;
  } catch (error) {
    throw fileFailure(action, error);
  }
}

function ensure(tree: ConfinedTree, subPath: string, kind: 'dir' | 'file' | undefined): 'dir' | 'file' {
  if (subPath === '') return 'dir';
  const { parent, name } = splitVolumePath(subPath);
  // A container may have thousands of mounts, so the directory is held once for all that is done in it.
  const ensureIn = (directory: HeldDirectory) => {
    if (kind !== undefined && lstatIn(directory, name) === undefined) make(tree, directory, { subPath, name, kind });
    return kindOf(lstatIn(directory, name));
  };
  try {
    return tree.inDirectory(parent, ensureIn, 'reject');
  } catch (error) {
    if (kind === undefined || !isSystemError(error, 'ENOENT')) throw error;
  }
  tree.makeDirectories(parent, 'reject');
  return tree.inDirectory(parent, ensureIn, 'reject');
}

/** Creates what is missing, unless another process has created something there meanwhile. */
function make(
  tree: ConfinedTree,
  directory: HeldDirectory,
  { subPath, name, kind }: { readonly subPath: string; readonly name: string; readonly kind: 'dir' | 'file' },
): void {
  try {
    if (kind === 'dir') makeIn(directory, name);
    else closeSync(tree.openFile(subPath, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL));
  } catch (error) {
    if (!isSystemError(error, 'EEXIST', 'EISDIR', 'EINVAL')) throw error;
  }
}

function lstatIn(directory: HeldDirectory, name: string): Stats | undefined {
  return lstatSync(within(directory, name), { throwIfNoEntry: false });
}

function kindOf(stats: Stats | undefined): 'dir' | 'file' {
  if (stats?.isDirectory()) return 'dir';
  if (stats?.isFile()) return 'file';
  if (stats === undefined) throw errno('ENOENT', 'absent');
  if (stats.isSymbolicLink()) throw errno('ELOOP', 'symlink');
  throw errno('EINVAL', 'special');
}
