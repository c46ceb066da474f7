import { statSync } from 'node:fs';
import { errnoOf } from './files/file-errors.ts';

/**
 * Why the files of the volume at `root` cannot be reached now, as the end of "… because"; undefined where they can. Looked
 * at anew each time, so that a volume is back as soon as its storage is.
 */
export function volumeFault(root: string): string | undefined {
  try {
    return statSync(root).isDirectory() ? undefined : 'something else is where its directory should be';
  } catch (error) {
    const code = errnoOf(error);
    return code === 'ENOENT' ? 'its directory is not there' : `its storage answers ${code}`;
  }
}
