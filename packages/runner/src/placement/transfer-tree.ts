import type { FileEntry, VolumeFiles } from '@sluice/client';
import { forEachFile } from '../data/for-each-file.ts';
import { allowAbsent, listTree } from '../data/list-tree.ts';

/** What a transfer has copied. */
export interface Transferred {
  readonly files: number;
  readonly bytes: number;
}

export interface TransferOptions {
  readonly from: VolumeFiles;
  readonly to: VolumeFiles;
  /** The same in both volumes. */
  readonly path: string;
}

/**
 * Copies a file or a directory from one volume to another, streaming. A file that is there in its full size was put there
 * whole by an earlier try and is not sent again. What is not there to copy leaves an empty directory.
 */
export async function transferTree({ from, to, path }: TransferOptions): Promise<Transferred> {
  const top = await from.stat(path);
  if (top?.kind === 'file') {
    await copyFile({ from, to }, top);
    return { files: 1, bytes: top.size };
  }
  const found = await listTree(allowAbsent(from), path);
  const there = new Map((await listTree(allowAbsent(to), path)).files.map((entry) => [entry.path, entry.size]));
  await to.makeDirectory(path);
  for (const directory of found.directories) await to.makeDirectory(directory.path);
  await forEachFile(found.files, async (entry) => {
    if (there.get(entry.path) !== entry.size) await copyFile({ from, to }, entry);
  });
  return { files: found.files.length, bytes: found.bytes };
}

async function copyFile({ from, to }: Pick<TransferOptions, 'from' | 'to'>, { path, size }: FileEntry): Promise<void> {
  await to.write(path, await from.read(path), { size });
}
