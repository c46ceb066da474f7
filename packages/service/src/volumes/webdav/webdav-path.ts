import type { Ref } from '@sluice/client';

/** Under it are the volumes' files. */
export const DAV_PREFIX = '/dav/';

/** Where a volume is served, without a slash at the end. */
export function webDavPath({ clusterID, accountID, id }: Ref): string {
  return `${DAV_PREFIX}${clusterID}/${accountID}/${id}`;
}
