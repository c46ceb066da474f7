import { closeSync, constants } from 'node:fs';
import { ServiceError } from '@sluice/client';
import { isSystemError } from '@sluice/host-system';
import type { ConfinedTree } from './confined-tree.ts';
import { fileFailure } from './file-failure.ts';
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
  const { parent } = splitVolumePath(subPath);
  if (kind === 'dir' && tree.lstat(subPath)?.isFile() !== true) {
    tree.makeDirectories(subPath, 'reject');
    return 'dir';
  }
  if (kind === 'file') {
    tree.makeDirectories(parent, 'reject');
    createFile(tree, subPath);
  }
  return tree.inDirectory(parent, () => kindAt(tree, subPath), 'reject');
}

function createFile(tree: ConfinedTree, subPath: string): void {
  try {
    closeSync(tree.openFile(subPath, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL));
  } catch (error) {
    if (!isSystemError(error, 'EEXIST', 'EISDIR', 'EINVAL')) throw error;
  }
}

function kindAt(tree: ConfinedTree, subPath: string): 'dir' | 'file' {
  const stats = tree.lstat(subPath);
  if (stats?.isDirectory()) return 'dir';
  if (stats?.isFile()) return 'file';
  if (stats === undefined) throw Object.assign(new Error('absent'), { code: 'ENOENT' });
  if (stats.isSymbolicLink()) throw Object.assign(new Error('symlink'), { code: 'ELOOP' });
  throw Object.assign(new Error('special'), { code: 'EINVAL' });
}
