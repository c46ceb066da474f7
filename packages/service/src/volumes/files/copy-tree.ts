import { closeSync, constants, copyFile, readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { type ConfinedTree, TEMPORARY_PREFIX } from './confined-tree.ts';
import { ConfinementError, errnoOf } from './file-errors.ts';
import { within } from './held-directory.ts';
import { joinVolumePath, splitVolumePath } from './volume-path.ts';

const copyFileByKernel = promisify(copyFile);

/**
 * Copies a file or directory to a name that is free, inside one volume. Links are copied as links where they stay
 * inside from their new place, and left away otherwise, as are sockets and the like. `from` has no link on its way.
 */
export async function copyTree(
  tree: ConfinedTree,
  options: { from: string; to: string; members: boolean },
): Promise<void> {
  const { from, to, members } = options;
  const stats = tree.lstat(from);
  if (stats === undefined) throw Object.assign(new Error(`cannot copy '${from}': it is not there`), { code: 'ENOENT' });
  if (stats.isSymbolicLink()) return copyLink(tree, from, to);
  if (stats.isFile()) return copyRegularFile(tree, from, to);
  if (!stats.isDirectory()) return;
  tree.makeDirectory(to, stats.mode & 0o777);
  if (!members) return;
  for (const name of namesIn(tree, from)) {
    await copyTree(tree, { from: joinVolumePath(from, name), to: joinVolumePath(to, name), members });
  }
}

function namesIn(tree: ConfinedTree, path: string): string[] {
  const names = tree.inDirectory(path, (directory) => readdirSync(`/proc/self/fd/${directory}`));
  return names.filter((name) => !name.startsWith(TEMPORARY_PREFIX)).sort();
}

async function copyRegularFile(tree: ConfinedTree, from: string, to: string): Promise<void> {
  const source = tree.openFile(from, constants.O_RDONLY);
  const { parent, name } = splitVolumePath(to);
  const directory = tree.hold(parent);
  try {
    const flags = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE;
    await copyFileByKernel(`/proc/self/fd/${source}`, within(directory, name), flags);
  } finally {
    closeSync(directory);
    closeSync(source);
  }
}

function copyLink(tree: ConfinedTree, from: string, to: string): void {
  try {
    tree.symlink(tree.readLink(from), to);
  } catch (error) {
    if (!(error instanceof ConfinementError) && errnoOf(error) !== 'ENOENT') throw error;
  }
}
