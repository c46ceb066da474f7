import { isServiceError, type VolumeFiles } from '@sluice/client';

/** Bytes of every file beneath a directory of a volume; 0 where it is not there. */
export async function measureVolume(files: VolumeFiles, directory: string): Promise<number> {
  let bytes = 0;
  const open = [directory];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const entry of await listThere(files, next)) {
      if (entry.kind === 'dir') open.push(entry.path);
      else bytes += entry.size;
    }
  }
  return bytes;
}

/** The entries of a directory; none where it is not there. */
export async function listThere(files: VolumeFiles, directory: string): ReturnType<VolumeFiles['list']> {
  try {
    return await files.list(directory);
  } catch (error) {
    if (isServiceError(error, 'NOT_FOUND')) return [];
    throw error;
  }
}
