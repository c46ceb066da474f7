import type { Ref, Scope } from '@sluice/client';
import type { ContainerRow } from './container-row.ts';
import type { KeyRange, Store, Table } from './store.ts';
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
export function idKey(ref: Ref): string {
  return accountPrefix(ref) + ref.id;
}

/** The key of a new resource of an account. `sequence` must be greater than that of all earlier ones. */
export function sequenceKey(scope: Scope, sequence: string): string {
  return accountPrefix(scope) + sequence;
}

/** The keys of an account after `after`, which may belong to another account; all keys if it is `''`. */
export function accountRange(scope: Scope, after: string): KeyRange {
  const prefix = accountPrefix(scope);
  // '0' is the character after '/'.
  return { from: after > prefix ? after : prefix, to: `${prefix.slice(0, -1)}0`, after: true };
}

/**
 * Sorts accounts as the keys of their resources are sorted. The order of their names differs if one name is the beginning of
 * another: `hpc` is less than `hpc-2`, but `hpc/` is greater than `hpc-2/`.
 */
export function compareAccounts(a: Scope, b: Scope): number {
  const [left, right] = [accountPrefix(a), accountPrefix(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The resources of several accounts after `after`, in the order of their keys, whatever the order of the accounts. */
export function* rowsOfAccounts<T>(
  { store, table }: { readonly store: Store; readonly table: Table<T> },
  accounts: readonly Scope[],
  after: string,
): Iterable<readonly [key: string, row: T]> {
  for (const account of accounts.toSorted(compareAccounts)) {
    const range = accountRange(account, after);
    if (range.from < range.to) yield* store.range(table, range);
  }
}

/** The beginning of the keys of an account's resources. */
function accountPrefix({ clusterID, accountID }: Scope): string {
  return `${clusterID}/${accountID}/`;
}
