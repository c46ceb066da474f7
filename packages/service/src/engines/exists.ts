import { stat } from 'node:fs/promises';

/** Whether a file exists. Throws if the storage reports an error, because the absence of a file is used as evidence. */
export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
}
