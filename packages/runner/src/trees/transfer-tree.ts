import type { FileEntry, VolumeFiles } from '@sluice/client';
import { forEachFile } from './for-each-file.ts';
import { leadsOut } from './leads-out.ts';
import { allowAbsent, listTree } from './list-tree.ts';

/** What a transfer has copied. */
export interface Transferred {
  readonly files: number;
  readonly bytes: number;
}

/** A tree to copy from one volume to another. */
export interface TransferOptions {
  readonly from: VolumeFiles;
  readonly to: VolumeFiles;
  /** The same in both volumes. */
  readonly path: string;
}

/**
 * Copies a file or a directory from one volume to another, streaming. A file that exists in its full size was copied
 * completely by an earlier try and is not sent again. If the tree is absent, an empty directory is created.
 */
export async function transferTree({ from, to, path }: TransferOptions): Promise<Transferred> {
  const top = await from.stat(path);
  if (top?.kind === 'file') {
    await copyFile({ from, to }, top);
    return { files: 1, bytes: top.size };
  }
  const found = await listTree(allowAbsent(from), path);
  const there = new Map((await listTree(allowAbsent(to), path)).files.map((entry) => [entry.path, entry]));
  await to.makeDirectory(path);
  for (const directory of found.directories) await to.makeDirectory(directory.path);
  await forEachFile(found.files, async (entry) => {
    const known = there.get(entry.path);
    if (entry.link !== undefined) {
      if (known?.link !== entry.link) await copyLink({ from, to, path }, entry);
    } else if (known?.size !== entry.size) await copyFile({ from, to }, entry);
  });
  return { files: found.files.length, bytes: found.bytes };
}

async function copyFile({ from, to }: Pick<TransferOptions, 'from' | 'to'>, entry: FileEntry): Promise<void> {
  const { path, size, executable } = entry;
  await to.write(path, await from.read(path), { size, ...(executable && { executable }) });
}

/**
 * Copies a link as a link if it stays inside the tree. If the other volume does not support links, its target is copied,
 * but only if it is a file, since a link to a directory could cause infinitely many copies.
 */
async function copyLink({ from, to, path: top }: TransferOptions, entry: FileEntry): Promise<void> {
  const { path, link, kind } = entry;
  if (leadsOut(path.slice(top.length + 1), link!)) return;
  if (await to.link(path, link!)) return;
  const reached = kind === 'file' ? await from.stat(path) : undefined;
  if (reached) await copyFile({ from, to }, reached);
}
