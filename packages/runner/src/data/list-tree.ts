import { type FileEntry, isServiceError, type VolumeFiles } from '@sluice/client';

/** What can list directories. */
type Lister = Pick<VolumeFiles, 'list'>;

/** What is beneath a directory of a volume; a directory comes before those in it. */
export interface VolumeTree {
  readonly files: readonly FileEntry[];
  readonly directories: readonly FileEntry[];
  /** Of all files together. */
  readonly bytes: number;
}

/** Every file and directory beneath a directory of a volume, with one list call for each directory. */
export async function* walkTree(volume: Lister, directory: string): AsyncGenerator<FileEntry> {
  const open = [directory];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const entry of await volume.list(next)) {
      if (entry.kind === 'dir') open.push(entry.path);
      yield entry;
    }
  }
}

/** All that `walkTree` finds. */
export async function listTree(volume: Lister, directory: string): Promise<VolumeTree> {
  const files: FileEntry[] = [];
  const directories: FileEntry[] = [];
  let bytes = 0;
  for await (const entry of walkTree(volume, directory)) {
    (entry.kind === 'dir' ? directories : files).push(entry);
    bytes += entry.size;
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
