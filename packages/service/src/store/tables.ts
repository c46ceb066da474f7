import type { Ref, Scope } from '@sluice/client';
import type { ContainerRow } from './container-row.ts';
import type { KeyRange, Table } from './store.ts';
import type { TokenRow, UserRow } from './user-row.ts';
import type { VolumeRow } from './volume-row.ts';

/**
 * Every table. Resources of an account have the key `<cluster>/<account>/<sequence>`, so that a page of a list is one range
 * read and page tokens stay valid while other entries are added or removed. Index tables map IDs to these keys.
 */
export const TABLES = {
  /** `schema` and `sequence`. */
  meta: { name: 'meta' } as Table<number>,
  /** By e-mail address in lower case. */
  users: { name: 'users' } as Table<UserRow>,
  /** By SHA-256 of the token, in hexadecimal. */
  tokens: { name: 'tokens' } as Table<TokenRow>,
  containers: { name: 'containers' } as Table<ContainerRow>,
  /** By the key in `containers`: the list item, as JSON, of a container that has ended and is not deleted. */
  endedItems: { name: 'endedItems' } as Table<string>,
  /** `<cluster>/<account>/<id>` to the key in `containers`. */
  containerIDs: { name: 'containerIDs' } as Table<string>,
  /** The keys of containers that have not ended or are not yet cleaned up. */
  liveContainers: { name: 'liveContainers' } as Table<true>,
  /** `<end time, 13 digits>/<key>`: ended containers, those whose retention ends first coming first. */
  endedContainers: { name: 'endedContainers' } as Table<true>,
  volumes: { name: 'volumes' } as Table<VolumeRow>,
  /** `<cluster>/<account>/<id>` to the key in `volumes`. */
  volumeIDs: { name: 'volumeIDs' } as Table<string>,
  /** From the user name of a transfer login to the key in `volumes`. */
  volumeLogins: { name: 'volumeLogins' } as Table<string>,
  /** `<delete time, 13 digits>/<key>`: deleted volumes, those to be purged first coming first. */
  deletedVolumes: { name: 'deletedVolumes' } as Table<true>,
};

/** A time in milliseconds since the epoch as a key prefix that sorts by time. */
export function timeKey(time: number): string {
  return String(Math.max(0, Math.floor(time))).padStart(13, '0');
}

/** The key of a resource in an index of IDs. */
export function idKey({ clusterID, accountID, id }: Ref): string {
  return `${clusterID}/${accountID}/${id}`;
}

/** The key of a new resource of an account. `sequence` must be greater than that of all earlier ones. */
export function sequenceKey({ clusterID, accountID }: Scope, sequence: string): string {
  return `${clusterID}/${accountID}/${sequence}`;
}

/** The keys of an account after `after`, which may belong to another account; all keys if it is `''`. */
export function accountRange({ clusterID, accountID }: Scope, after: string): KeyRange {
  const account = `${clusterID}/${accountID}`;
  // '0' is the character after '/'.
  return { from: after > `${account}/` ? after : `${account}/`, to: `${account}0`, after: true };
}
