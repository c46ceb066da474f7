import type { StorageAccess } from '../../storage/storage-access.ts';
import type { StorageSpace } from '../storage-space.ts';

/** What counts the files of a tree, and how to reach their storage. Defaults: no limit, and a storage that always answers. */
export interface TreeOptions {
  readonly space?: StorageSpace | undefined;
  readonly storage?: StorageAccess | undefined;
}
