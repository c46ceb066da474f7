import { mkdir, readlink, realpath, symlink, unlink } from 'node:fs/promises';
import { bytesToName, type FileEntry, nameOnDisk, printableName, ServiceError, type VolumeFiles } from '@sluice/client';
import { countTransfer, type TransferProgress } from './count-transfer.ts';
import { downloadFile } from './download-file.ts';
import { forEachFile } from './for-each-file.ts';
import { leadsOut } from './leads-out.ts';
import { listTree } from './list-tree.ts';
import { placeIn } from './local-tree.ts';

/** A directory of a volume, and its place in the local directory. */
export interface TreeSource {
  readonly files: VolumeFiles;
  /** Directory in the volume. */
  readonly from: string;
  /** Directory in the local one; `''` is the local one itself. */
  readonly into: string;
}

/** What to download, and where. */
export interface DownloadOptions {
  readonly sources: readonly TreeSource[];
  /** Empty local directory: an existing file is an error. */
  readonly to: string;
  readonly onProgress?: (progress: TransferProgress) => void;
}

/** The result of a download. */
export interface Downloaded {
  /** Every created file and link, relative to the local directory, sorted. */
  readonly files: readonly string[];
  readonly warnings: readonly string[];
}

/** One entry of a volume, and its path in the local directory. */
interface Item {
  readonly volume: VolumeFiles;
  readonly entry: FileEntry;
  readonly at: string;
}

/**
 * Copies directories of volumes to a local one, streaming and in parallel. Sizes are verified, executable bits are kept,
 * and links are created if they stay inside. Throws `ServiceError`, or Node's own errors about local files.
 */
export async function downloadTree(options: DownloadOptions): Promise<Downloaded> {
  const { sources, to, onProgress = () => {} } = options;
  const items: Item[] = [];
  const directories = new Set<string>();
  let bytes = 0;
  for (const { files: volume, from, into } of sources) {
    if (into !== '') directories.add(into);
    const found = await listTree(volume, from);
    bytes += found.bytes;
    const place = (entry: FileEntry) => [into, beneath(from, entry.path)].filter((part) => part !== '').join('/');
    for (const directory of found.directories) directories.add(place(directory));
    for (const entry of found.files) items.push({ volume, entry, at: place(entry) });
  }
  const files = items.filter(({ entry }) => entry.link === undefined);
  const links = items.filter(({ entry }) => entry.link !== undefined);
  for (const directory of directories) await mkdir(placeIn(to, directory), { recursive: true });
  const count = countTransfer({ totalFiles: files.length, totalBytes: bytes }, onProgress);
  await forEachFile(files, async ({ at, ...file }) => {
    await downloadFile({ ...file, to: placeIn(to, at), onBytes: count.addBytes });
    count.addFile();
  });
  // Links are created last, so that no file is written through one.
  const { made, warnings } = await makeLinks(links, to);
  count.end();
  return { files: [...files.map(({ at }) => at), ...made].sort(), warnings };
}

/** The path of an entry relative to `from`. Throws if a name leads out of it. */
function beneath(from: string, path: string): string {
  const relative = from === '' ? path : path.slice(from.length + 1);
  const isBeneath = from === '' || path.startsWith(`${from}/`);
  const wrong = relative.split('/').some((name) => name === '' || name === '.' || name === '..' || name.includes('\0'));
  if (isBeneath && !wrong) return relative;
  throw new ServiceError(
    'INVALID_REPLY',
    `the service lists ${JSON.stringify(path)}, which leads out of the directory`,
  );
}

async function makeLinks(links: readonly Item[], to: string): Promise<{ made: string[]; warnings: string[] }> {
  const made: string[] = [];
  const outside: string[] = [];
  for (const { entry, at } of links) {
    if (leadsOut(at, entry.link!)) {
      outside.push(`${at} -> ${entry.link}`);
      continue;
    }
    await symlink(nameOnDisk(entry.link!), placeIn(to, at));
    made.push(at);
  }
  const root = await realpath(to);
  const kept: string[] = [];
  for (const at of made) {
    // It may lead out through another link although its own target does not.
    const real = await realpath(placeIn(to, at), { encoding: 'buffer' }).catch(() => undefined);
    const reached = real === undefined ? root : bytesToName(real);
    if (reached === root || reached.startsWith(`${root}/`)) {
      kept.push(at);
      continue;
    }
    outside.push(`${at} -> ${bytesToName(await readlink(placeIn(to, at), { encoding: 'buffer' }))}`);
    await unlink(placeIn(to, at));
  }
  return { made: kept, warnings: outside.map(outsideWarning) };
}

const outsideWarning = (link: string) =>
  `the link ${printableName(link)} leads out of the output and was left out; write relative links that stay inside`;
