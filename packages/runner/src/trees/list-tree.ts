import { type FileEntry, isServiceError, ServiceError, type VolumeFiles } from '@sluice/client';

/** What can list directories. */
type Lister = Pick<VolumeFiles, 'list'>;

/** What is beneath a directory of a volume; a directory comes before those in it. */
export interface VolumeTree {
  /** Files and links. */
  readonly files: readonly FileEntry[];
  readonly directories: readonly FileEntry[];
  /** Of all files together, without links. */
  readonly bytes: number;
}

/** More than any real tree has: a service that lists without an end is left. */
const MAX_ENTRIES = 5_000_000;
const MAX_DEPTH = 500;
const MAX_PATH = 4_096;

/** Every file, link and directory beneath a directory of a volume, with one list call for each directory. */
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

/** All that `walkTree` finds. */
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

/** The volume for listing, where a directory that is not there is an empty one and no error. */
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
