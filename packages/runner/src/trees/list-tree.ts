import { type FileEntry, isServiceError, ServiceError, type VolumeFiles } from '@sluice/client';

/** Lists directories of a volume. */
type Lister = Pick<VolumeFiles, 'list'>;

/** The content of a tree in a volume; a directory comes before those in it. */
export interface VolumeTree {
  /** Files and links. */
  readonly files: readonly FileEntry[];
  readonly directories: readonly FileEntry[];
  /** The sum of all files, without links. */
  readonly bytes: number;
}

/** More than any real tree has: an endless list must end with an error. */
const MAX_ENTRIES = 5_000_000;
const MAX_DEPTH = 500;
const MAX_PATH = 4_096;

/** All files, links and directories of a tree in a volume, with one list request for each directory. Throws `ServiceError`. */
export async function* walkTree(volume: Lister, directory: string): AsyncGenerator<FileEntry> {
  const open = [directory];
  let entries = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const entry of await volume.list(next)) {
      entries += 1;
      const isEndless = entries > MAX_ENTRIES || entry.path.length > MAX_PATH || depthOf(entry.path) > MAX_DEPTH;
      if (isEndless) throw endless(directory, entry.path);
      if (entry.kind === 'dir' && entry.link === undefined) open.push(entry.path);
      yield entry;
    }
  }
}

function depthOf(path: string): number {
  return path.split('/').length;
}

function endless(directory: string, path: string): ServiceError {
  const at = `${JSON.stringify(path.slice(0, 100))}${path.length > 100 ? '…' : ''}`;
  const limits = `${MAX_ENTRIES} entries, ${MAX_DEPTH} levels, paths of ${MAX_PATH} characters`;
  const message = `could not list ${JSON.stringify(directory)}: at ${at} it is larger than ${limits}`;
  return new ServiceError('INVALID_REPLY', message);
}

/** Everything that `walkTree` yields. */
export async function listTree(volume: Lister, directory: string): Promise<VolumeTree> {
  const files: FileEntry[] = [];
  const directories: FileEntry[] = [];
  let bytes = 0;
  for await (const entry of walkTree(volume, directory)) {
    const isLink = entry.link !== undefined;
    (entry.kind === 'dir' && !isLink ? directories : files).push(entry);
    if (!isLink) bytes += entry.size;
  }
  return { files, directories, bytes };
}

/** A lister for which an absent directory is empty instead of an error. */
export function allowAbsent(files: VolumeFiles): Lister {
  return {
    async list(directory) {
      try {
        return await files.list(directory);
      } catch (error) {
        if (isServiceError(error, 'NOT_FOUND')) return [];
        throw error;
      }
    },
  };
}
