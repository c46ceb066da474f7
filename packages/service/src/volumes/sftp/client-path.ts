import { TEMPORARY_PREFIX } from '../files/confined-tree.ts';
import { checkVolumePath } from '../files/volume-path.ts';
import { SftpFailure } from './sftp-failure.ts';
import { STATUS } from './sftp-packet.ts';

/**
 * The volume path of a client's `path`. `/` is the root and the initial directory, and `..` of the root is the root, as in a
 * `chroot`. Throws `SftpFailure` for an invalid or reserved name.
 */
export function volumePathOf(path: string): string {
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  const inside = segments.join('/');
  const fault = checkVolumePath(inside);
  if (fault !== undefined) throw new SftpFailure(STATUS.FAILURE, fault);
  if (segments.some((segment) => segment.startsWith(TEMPORARY_PREFIX))) {
    throw new SftpFailure(STATUS.PERMISSION_DENIED, 'the name is reserved');
  }
  return inside;
}
