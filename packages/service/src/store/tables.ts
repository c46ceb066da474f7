import type { Ref, Scope } from '@sluice/client';
import type { ContainerRow } from './container-row.ts';
import type { KeyRange, Table } from './store.ts';
import type { TokenRow, UserRow } from './user-row.ts';
import type { VolumeRow } from './volume-row.ts';

/**
 * Every table. Things of an account are kept under `<cluster>/<account>/<sequence>`, so that a page of a list is one
 * range read and a page token stays right while others come and go; an index leads from the ID to the sequence.
 */
export const TABLES = {
  /** `schema` and `sequence`. */
  meta: { name: 'meta' } as Table<number>,
  /** By e-mail address in lower case. */
  users: { name: 'users' } as Table<UserRow>,
  /** By SHA-256 of the token, in hexadecimal. */
  tokens: { name: 'tokens' } as Table<TokenRow>,
  containers: { name: 'containers' } as Table<ContainerRow>,
  /** By the key in `containers`: the list item, as JSON, of one that has ended and is not deleted. */
  endedItems: { name: 'endedItems' } as Table<string>,
  /** `<cluster>/<account>/<id>` to the key in `containers`. */
  containerIDs: { name: 'containerIDs' } as Table<string>,
  /** The keys of containers that have not ended or are not yet cleaned up. */
  liveContainers: { name: 'liveContainers' } as Table<true>,
  /** `<end, 13 digits>/<key>`: what retention ends next. */
  endedContainers: { name: 'endedContainers' } as Table<true>,
  volumes: { name: 'volumes' } as Table<VolumeRow>,
  /** `<cluster>/<account>/<id>` to the key in `volumes`. */
  volumeIDs: { name: 'volumeIDs' } as Table<string>,
  /** User name of a transfer login to the key in `volumes`. */
  volumeLogins: { name: 'volumeLogins' } as Table<string>,
  /** `<deletion, 13 digits>/<key>`: what is purged next. */
  deletedVolumes: { name: 'deletedVolumes' } as Table<true>,
};

/** A point in time as the beginning of a key. */
export function timeKey(time: number): string {
  return String(Math.max(0, Math.floor(time))).padStart(13, '0');
}

/** Where an index of IDs leads from. */
export function idKey({ clusterID, accountID, id }: Ref): string {
  return `${clusterID}/${accountID}/${id}`;
}

/** Where a thing of an account is kept; `sequence` is larger than that of all before. */
export function sequenceKey({ clusterID, accountID }: Scope, sequence: string): string {
  return `${clusterID}/${accountID}/${sequence}`;
}

/** What an account has after the key `after`, which may be of another account; all of it where that is `''`. */
export function accountRange({ clusterID, accountID }: Scope, after: string): KeyRange {
  const account = `${clusterID}/${accountID}`;
  // '0' is the character after '/'.
  return { from: after > `${account}/` ? after : `${account}/`, to: `${account}0`, after: true };
}
