import { closeSync, constants } from 'node:fs';
import { ServiceError } from '@sluice/client';
import { isSystemError } from '@sluice/host-system';
import { type ConfinedTree, openConfinedTree } from './confined-tree.ts';
import { fileFailure } from './file-failure.ts';
import { checkVolumePath, splitVolumePath } from './volume-path.ts';

/**
 * Makes sure that `subPath` of the volume at `root` can be mounted, and says as what. With `kind` it is made where it
 * is not, with the directories above it; without, it must be there. No symlink may be on the way, also none that
 * stays inside the volume: the engine mounts what is at this very path. Throws `ServiceError`, `INVALID_ARGUMENT` for
 * what the caller can mend and `NOT_FOUND` for what is not there.
 */
export function ensureSubPath(root: string, subPath: string, kind?: 'dir' | 'file'): 'dir' | 'file' {
  const action = `mount '${subPath}' of the volume`;
  const fault = checkVolumePath(subPath);
  if (fault !== undefined) throw new ServiceError('INVALID_ARGUMENT', `cannot ${action}: ${fault}`);
  try {
    const found = ensure(root, subPath, kind);
    if (kind !== undefined && found !== kind) {
      throw new ServiceError('INVALID_ARGUMENT', `cannot ${action} as ${kind}: a ${found} is there`);
    }
    return found;
  } catch (error) {
    throw fileFailure(action, error);
  }
}

function ensure(root: string, subPath: string, kind: 'dir' | 'file' | undefined): 'dir' | 'file' {
  const tree = openConfinedTree(root);
  if (subPath === '') return 'dir';
  const { parent } = splitVolumePath(subPath);
  if (kind === 'dir' && tree.lstat(subPath)?.isFile() !== true) {
    tree.makeDirectories(subPath, 'refuse');
    return 'dir';
  }
  if (kind === 'file') {
    tree.makeDirectories(parent, 'refuse');
    createFile(tree, subPath);
  }
  return tree.inDirectory(parent, () => kindAt(tree, subPath), 'refuse');
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
