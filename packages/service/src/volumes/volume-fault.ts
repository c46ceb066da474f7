import { statSync } from 'node:fs';
import { systemErrorCode } from '@sluice/host-system';

/**
 * Why the files of the volume at `root` cannot be reached now, as the end of "… because"; undefined where they can. Looked
 * at anew each time, so that a volume is back as soon as its storage is.
 */
export function volumeFault(root: string): string | undefined {
  try {
    return statSync(root).isDirectory() ? undefined : 'something else is where its directory should be';
  } catch (error) {
    const code = systemErrorCode(error);
    return code === 'ENOENT' ? 'its directory is not there' : `its storage answers ${code}`;
  }
}
