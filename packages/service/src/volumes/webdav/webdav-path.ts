import type { Ref } from '@sluice/client';

/** URL path prefix of all volumes. */
export const DAV_PREFIX = '/dav/';

/** URL path of a volume, without a trailing slash. */
export function webDavPath({ clusterID, accountID, id }: Ref): string {
  return `${DAV_PREFIX}${clusterID}/${accountID}/${id}`;
}
