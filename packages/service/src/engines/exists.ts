import { stat } from 'node:fs/promises';

/** Whether a mark of ours is there; throws where storage does not say, since a missing mark is evidence. */
export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
}
