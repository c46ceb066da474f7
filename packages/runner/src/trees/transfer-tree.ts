import type { FileEntry, VolumeFiles } from '@sluice/client';
import { forEachFile } from './for-each-file.ts';
import { hashFile } from './hash-file.ts';
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
  /** The files that earlier tries have copied, which this one continues; it adds its own. */
  readonly copied?: Set<string>;
}

/**
 * Copies a file or a directory from one volume to another, streaming. A file that exists with the same content is not
 * sent again: another run may read it, and an interrupted transfer is continued. If the tree is absent, an empty
 * directory is created.
 */
export async function transferTree({ from, to, path, copied = new Set() }: TransferOptions): Promise<Transferred> {
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
    } else if (!(copied.has(entry.path) && known) && !(await isSameFile({ from, to }, [entry, known])))
      await copyFile({ from, to }, entry);
    copied.add(entry.path);
  });
  return { files: found.files.length, bytes: found.bytes };
}

/** Compares the content, because files of equal size may differ. */
async function isSameFile(
  { from, to }: Pick<TransferOptions, 'from' | 'to'>,
  [entry, known]: readonly [FileEntry, FileEntry | undefined],
): Promise<boolean> {
  if (known === undefined || known.link !== undefined || known.kind !== 'file' || known.size !== entry.size)
    return false;
  if (known.executable !== undefined && known.executable !== (entry.executable ?? false)) return false;
  const [ours, theirs] = await Promise.all([from, to].map((files) => hashFile(files, entry.path)));
  return ours === theirs;
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
