import { constants, copyFile, fchmod, fstatSync } from 'node:fs';
import { promisify } from 'node:util';
import { isSystemError } from '@sluice/host-system';
import { checkAnswer } from '../../storage/storage-access.ts';
import { openChargedFile } from './charged-file.ts';
import { closeFile } from './close-file.ts';
import { type ConfinedTree, TEMPORARY_PREFIX } from './confined-tree.ts';
import { ConfinementError } from './file-errors.ts';
import { namesIn } from './held-directory.ts';
import { joinVolumePath } from './volume-path.ts';

const copyFileByKernel = promisify(copyFile);
const changeMode = promisify(fchmod);

/**
 * Copies a file or directory to an unused name inside the same volume. Links are copied as links if they stay inside at
 * their new place; others, and special files such as sockets, are omitted. `from` must contain no links.
 */
export async function copyTree(
  tree: ConfinedTree,
  options: { from: string; to: string; members: boolean },
): Promise<void> {
  const { from, to, members } = options;
  await checkAnswer(tree.storage);
  const stats = tree.lstat(from);
  if (stats === undefined)
    throw Object.assign(new Error(`could not copy '${from}': it does not exist`), { code: 'ENOENT' });
  if (stats.isSymbolicLink()) return copyLink(tree, from, to);
  if (stats.isFile()) return copyRegularFile(tree, from, to);
  if (!stats.isDirectory()) return;
  tree.makeDirectory(to, stats.mode & 0o777);
  if (!members) return;
  for (const name of membersOf(tree, from)) {
    await copyTree(tree, { from: joinVolumePath(from, name), to: joinVolumePath(to, name), members });
  }
}

function membersOf(tree: ConfinedTree, path: string): string[] {
  const names = tree.inDirectory(path, namesIn);
  return names.filter((name) => !name.startsWith(TEMPORARY_PREFIX)).sort();
}

async function copyRegularFile(tree: ConfinedTree, from: string, to: string): Promise<void> {
  const source = tree.openFile(from, constants.O_RDONLY);
  try {
    // Created by the tree, which sets the owner; the kernel then copies the content.
    const target = openChargedFile(tree, {
      path: to,
      flags: constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
    });
    try {
      const { size, mode } = fstatSync(source);
      // All of it: the kernel may fill holes.
      target.expect(size);
      await tree.storage.inThread(async () => {
        await copyFileByKernel(`/proc/self/fd/${source}`, `/proc/self/fd/${target.file}`, constants.COPYFILE_FICLONE);
        await changeMode(target.file, mode & 0o777);
      });
    } finally {
      await target.close();
    }
  } finally {
    await closeFile(tree.storage, source);
  }
}

function copyLink(tree: ConfinedTree, from: string, to: string): void {
  try {
    tree.symlink(tree.readLink(from), to);
  } catch (error) {
    if (!(error instanceof ConfinementError) && !isSystemError(error, 'ENOENT')) throw error;
  }
}
