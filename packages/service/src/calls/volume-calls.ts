import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { identifierSchema, type Ref, type Scope, type Volume } from '@sluice/client';
import { isSystemError } from '@sluice/host-system';
import type { Logger } from 'pino';
import { authorize, matchingAccounts, refuseScope } from '../accounts/authorize.ts';
import type { Principal } from '../accounts/principal.ts';
import type { Cluster } from '../clusters/cluster.ts';
import type { Clock } from '../host/clock.ts';
import { randomID } from '../host/random-id.ts';
import { parsePage, renderPageToken } from '../protocol/page.ts';
import { RequestError } from '../protocol/request-error.ts';
import { removeForGood } from '../storage/remove-for-good.ts';
import { storagePaths } from '../storage/storage-paths.ts';
import { findDurable } from '../store/find-durable.ts';
import { renderTime } from '../store/render-list-item.ts';
import type { Sequence } from '../store/sequence.ts';
import { type Change, put, remove, type Store } from '../store/store.ts';
import { accountRange, idKey, sequenceKey, TABLES, timeKey } from '../store/tables.ts';
import type { VolumeRow } from '../store/volume-row.ts';
import { createTransferLogin, hashTransferPassword } from '../volumes/transfer-login.ts';
import { volumeFault } from '../volumes/volume-fault.ts';
import { checkStoredBytes } from './check-stored-bytes.ts';

/** The addresses at which clients reach the files of a volume; absent for a protocol that is not served. */
export type TransferAddress = (volume: Ref) => { webdav?: string; sftp?: string };

interface CreateVolumeRequest {
  /** Default: a random ID. */
  readonly volumeID?: string;
  /** Whether to create a login for file transfer, which the reply contains. */
  readonly transfer?: boolean;
  readonly address: TransferAddress;
}

/** The operations of the volume endpoints, for HTTP and in-process callers. Each call but `purge` authorizes the principal. */
export interface VolumeCalls {
  create(principal: Principal, scope: Scope, request: CreateVolumeRequest): Promise<Volume>;
  list(
    principal: Principal,
    scope: Scope,
    page: { pageSize?: number | undefined; token?: string | undefined },
  ): Promise<{ volumes: Volume[]; nextPageToken: string }>;
  delete(principal: Principal, ref: Ref, options: { force: boolean }): Promise<void>;
  undelete(principal: Principal, ref: Ref): Promise<void>;
  /** Removes a volume of any account with its files, for retention. */
  purge(volumeKey: string): Promise<void>;
}

/** What `createVolumeCalls` works on. */
export interface VolumeCallsOptions {
  readonly store: Store;
  readonly clusters: ReadonlyMap<string, Cluster>;
  readonly sequence: Sequence;
  readonly clock: Clock;
  readonly log: Logger;
  /** How long a deleted volume can be undeleted. */
  readonly retentionMs: number;
  /** Called when a volume is no longer available, to end sessions on its files. */
  readonly onRevoked: (row: VolumeRow) => void;
}

/** Starts no work. */
export function createVolumeCalls(options: VolumeCallsOptions): VolumeCalls {
  const { store } = options;
  const purge = async (key: string) => {
    const row = store.get(TABLES.volumes, key);
    if (row !== undefined) await purgeVolume(options, key, row);
  };
  return {
    create: (principal, scope, request) => createVolume(options, { principal, scope, ...request }),
    async list(principal, scope, page) {
      const accounts = matchingAccounts(principal, scope).filter(({ clusterID }) => options.clusters.has(clusterID));
      const list = `volumes ${scope.clusterID}/${scope.accountID}`;
      const { pageSize, after } = parsePage(list, page);
      const volumes: Volume[] = [];
      let last = '';
      for (const [key, row] of volumeRows(store, accounts, after)) {
        if (volumes.length === pageSize) return { volumes, nextPageToken: renderPageToken(list, last) };
        const { storage } = options.clusters.get(row.clusterID)!;
        volumes.push(renderVolume(row, storagePaths.volume(storage, row.accountID, row.id)));
        last = key;
      }
      return { volumes, nextPageToken: '' };
    },
    async delete(principal, ref, { force }) {
      const { key, row } = await findDurable(store, () => find(store, principal, ref));
      if (!force) return deleteVolume(options, key, row);
      if (options.clusters.get(ref.clusterID)?.containers.isMounted(key)) {
        const why = 'a container that has not ended mounts it';
        throw new RequestError(
          'VOLUME_MOUNTED',
          `could not force the deletion of the volume '${ref.id}' because ${why}`,
        );
      }
      return purge(key);
    },
    async undelete(principal, ref) {
      const { key, row } = find(store, principal, ref);
      await undeleteVolume(store, key, row);
    },
    purge,
  };
}

function find(store: Store, principal: Principal, ref: Ref): { key: string; row: VolumeRow } {
  authorize(principal, ref);
  const key = store.get(TABLES.volumeIDs, idKey(ref));
  const row = key === undefined ? undefined : store.get(TABLES.volumes, key);
  if (key === undefined || row === undefined || row.phase === 'Deleted') {
    const where = `account ${ref.accountID} on cluster ${ref.clusterID}`;
    throw new RequestError('VOLUME_NOT_FOUND', `could not find the volume '${ref.id}' of ${where}`);
  }
  return { key, row };
}

async function createVolume(
  options: VolumeCallsOptions,
  request: CreateVolumeRequest & { readonly principal: Principal; readonly scope: Scope },
): Promise<Volume> {
  const { scope } = request;
  authorize(request.principal, scope);
  const ref: Ref = {
    clusterID: scope.clusterID,
    accountID: scope.accountID,
    id: request.volumeID ?? `v-${randomID(20)}`,
  };
  if (!identifierSchema.safeParse(ref.id).success || ref.id === '-') {
    throw new RequestError(
      'ID_INVALID',
      `could not use the volume ID '${ref.id}' because it is not 1 to 63 of a-z, 0-9 and -, or is the wildcard -`,
      {
        details: { field: 'volumeID' },
      },
    );
  }
  const cluster = options.clusters.get(ref.clusterID) ?? refuseScope();
  await checkStoredBytes(cluster, ref);
  checkIDFree(options, ref);
  const login = request.transfer === true ? createTransferLogin() : undefined;
  const row: VolumeRow = {
    ...ref,
    phase: 'Available',
    state: 'available',
    createTime: options.clock.now(),
    ...(login === undefined
      ? {}
      : { login: { username: login.username, passwordHash: hashTransferPassword(login.password) } }),
  };
  const { storage } = cluster;
  checkStorage(storage, ref.clusterID);
  const root = makeRoot(storage, ref);
  const key = sequenceKey(ref, options.sequence.next());
  const changes: Change[] = [put(TABLES.volumes, key, row), put(TABLES.volumeIDs, idKey(ref), key)];
  if (login !== undefined) changes.push(put(TABLES.volumeLogins, login.username, key));
  try {
    await options.store.commit(changes);
  } catch (error) {
    rmSync(root, { recursive: true, force: true });
    throw error;
  }
  return {
    ...renderVolume(row, root),
    ...(login === undefined ? {} : { service: { ...login, address: request.address(ref) } }),
  };
}

async function deleteVolume(
  { store, clock, onRevoked }: VolumeCallsOptions,
  key: string,
  row: VolumeRow,
): Promise<void> {
  if (row.phase === 'Deleting') return store.commit([]);
  const deleteTime = clock.now();
  const deleted: VolumeRow = { ...row, phase: 'Deleting', state: 'deleted; can be undeleted', deleteTime };
  await store.commit([
    put(TABLES.volumes, key, deleted),
    put(TABLES.deletedVolumes, `${timeKey(deleteTime)}/${key}`, true),
  ]);
  onRevoked(deleted);
}

async function undeleteVolume(store: Store, key: string, row: VolumeRow): Promise<void> {
  const { deleteTime, ...rest } = row;
  if (row.phase !== 'Deleting' || deleteTime === undefined) {
    throw new RequestError(
      'VOLUME_NOT_DELETING',
      `could not undelete the volume '${row.id}' because it is ${row.phase}`,
      {
        details: { phase: row.phase },
      },
    );
  }
  await store.commit([
    put(TABLES.volumes, key, { ...rest, phase: 'Available', state: 'available' }),
    remove(TABLES.deletedVolumes, `${timeKey(deleteTime)}/${key}`),
  ]);
}

function checkIDFree(options: VolumeCallsOptions, ref: Ref): void {
  const key = options.store.get(TABLES.volumeIDs, idKey(ref));
  const row = key === undefined ? undefined : options.store.get(TABLES.volumes, key);
  if (row === undefined) return;
  const isRetained = row.phase === 'Deleting' && row.deleteTime !== undefined;
  const freeTime = isRetained ? new Date(row.deleteTime + options.retentionMs).toISOString() : undefined;
  const free = freeTime === undefined ? '' : `; free at ${freeTime}, or once its deletion is forced`;
  throw new RequestError(
    'VOLUME_ID_TAKEN',
    `could not create the volume '${ref.id}' because one with this ID is ${row.phase}${free}`,
    {
      details: { phase: row.phase, ...(freeTime === undefined ? {} : { freeTime }) },
    },
  );
}

/**
 * Throws while the cluster's storage is unavailable, for example not mounted. A volume created then would be hidden when the
 * storage is mounted again, and a removal would only appear to succeed.
 */
function checkStorage(storage: string, clusterID: string): void {
  const fault = volumeFault(storagePaths.volumes(storage)) ?? volumeFault(storagePaths.trash(storage));
  if (fault === undefined) return;
  throw new RequestError('STORAGE_UNAVAILABLE', `could not reach the storage of cluster ${clusterID}: ${fault}`, {
    retryAfterMs: 5000,
  });
}

/** Creates the volume's empty root. A root without a row, left by a crash, is moved to the trash. */
function makeRoot(storage: string, ref: Ref): string {
  const root = storagePaths.volume(storage, ref.accountID, ref.id);
  const properties = storagePaths.properties(storage, ref.accountID, ref.id);
  for (const path of [root, properties]) mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  rmSync(properties, { force: true });
  try {
    mkdirSync(root, { mode: 0o755 });
  } catch (error) {
    if (!isSystemError(error, 'EEXIST')) throw error;
    renameSync(root, join(storagePaths.trash(storage), `stray-${ref.id}-${randomID(16)}`));
    mkdirSync(root, { mode: 0o755 });
  }
  return root;
}

/** Makes the decision durable, then moves the files to the trash, then removes the row. Each step may be repeated after a crash. */
async function purgeVolume(options: VolumeCallsOptions, key: string, row: VolumeRow): Promise<void> {
  const { store } = options;
  const storage = options.clusters.get(row.clusterID)?.storage;
  if (storage === undefined) return;
  checkStorage(storage, row.clusterID);
  // With a time in the past, so that the next sweep completes the purge after a crash.
  const deleted: VolumeRow = { ...row, phase: 'Deleted', state: 'deleted', deleteTime: row.deleteTime ?? 0 };
  const due = `${timeKey(deleted.deleteTime!)}/${key}`;
  await store.commit([put(TABLES.volumes, key, deleted), put(TABLES.deletedVolumes, due, true)]);
  options.onRevoked(deleted);
  const trash = join(storagePaths.trash(storage), `volume-${row.id}-${randomID(16)}`);
  try {
    renameSync(storagePaths.volume(storage, row.accountID, row.id), trash);
  } catch (error) {
    if (!isSystemError(error, 'ENOENT')) throw error;
  }
  rmSync(storagePaths.properties(storage, row.accountID, row.id), { force: true });
  const changes: Change[] = [
    ...[remove(TABLES.volumes, key), remove(TABLES.volumeIDs, idKey(row)), remove(TABLES.deletedVolumes, due)],
    ...(row.login === undefined ? [] : [remove(TABLES.volumeLogins, row.login.username)]),
  ];
  store.write(changes);
  await store.durable();
  removeForGood(trash).catch((error: unknown) => {
    options.log.warn(
      { err: error, volume: row.id },
      'could not remove the files of a deleted volume; the next start tries again',
    );
  });
}

function* volumeRows(
  store: Store,
  accounts: readonly Scope[],
  after: string,
): Iterable<readonly [key: string, row: VolumeRow]> {
  for (const account of accounts) {
    const range = accountRange(account, after);
    if (range.from < range.to) yield* store.range(TABLES.volumes, range);
  }
}

/** A volume as an item of a list, without its login. A volume whose `root` is missing has the phase `Unknown`. */
function renderVolume(row: VolumeRow, root: string): Volume {
  const fault = row.phase === 'Available' ? volumeFault(root) : undefined;
  return {
    id: row.id,
    clusterID: row.clusterID,
    accountID: row.accountID,
    phase: fault === undefined ? row.phase : 'Unknown',
    state: fault === undefined ? row.state : `not usable until its files are back: ${fault}`,
    createTime: renderTime(row.createTime),
  };
}
