import { statSync } from 'node:fs';
import { systemErrorCode } from '@sluice/host-system';

/**
 * Why the files of the volume at `root` are not available now, as the end of a sentence with "because"; undefined if they
 * are. Checked on each call, so that a volume is available again as soon as its storage is.
 */
export function volumeFault(root: string): string | undefined {
  try {
    return statSync(root).isDirectory() ? undefined : 'its path is not a directory';
  } catch (error) {
    const code = systemErrorCode(error);
    return code === 'ENOENT' ? 'its directory does not exist' : `its storage reports ${code}`;
  }
}
