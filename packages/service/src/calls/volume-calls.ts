import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { identifierSchema, type Ref, type Scope, type Volume } from '@sluice/client';
import { isSystemError } from '@sluice/host-system';
import { authorize, matchingAccounts, rejectScope } from '../accounts/authorize.ts';
import type { Principal } from '../accounts/principal.ts';
import type { Clock } from '../protocol/clock.ts';
import { parsePage, renderPageToken } from '../protocol/page.ts';
import { randomId } from '../protocol/random-id.ts';
import { RequestError } from '../protocol/request-error.ts';
import { shorten } from '../protocol/shorten.ts';
import { storagePaths } from '../storage/storage-paths.ts';
import { findDurable } from '../store/find-durable.ts';
import { renderTime } from '../store/render-list-item.ts';
import type { Sequence } from '../store/sequence.ts';
import { type Change, put, remove, type Store } from '../store/store.ts';
import { idKey, rowsOfAccounts, sequenceKey, TABLES, timeKey } from '../store/tables.ts';
import type { VolumeRow } from '../store/volume-row.ts';
import { createTransferLogin, hashTransferPassword } from '../volumes/transfer-login.ts';
import { volumeFault } from '../volumes/volume-fault.ts';
import { checkInodes, checkStorage } from './check-storage.ts';
import { checkStoredBytes } from './check-stored-bytes.ts';
import { createPurge, type PurgeOptions, type PurgeOutcome } from './purge-volume.ts';

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
  /** Removes a volume of any account with its files, for retention, if it is still deleted as of this `timeKey`. */
  purge(volumeKey: string, deleteTime: string): Promise<PurgeOutcome>;
}

/** What `createVolumeCalls` works on. */
export interface VolumeCallsOptions extends PurgeOptions {
  readonly sequence: Sequence;
  readonly clock: Clock;
  /** How long a deleted volume can be undeleted. */
  readonly retentionMs: number;
}

/** Starts no work. */
export function createVolumeCalls(options: VolumeCallsOptions): VolumeCalls {
  const { store } = options;
  const purge = createPurge(options);
  return {
    create: (principal, scope, request) => createVolume(options, { principal, scope, ...request }),
    async list(principal, scope, page) {
      const accounts = matchingAccounts(principal, scope).filter(({ clusterID }) => options.clusters.has(clusterID));
      const list = `volumes ${scope.clusterID}/${scope.accountID}`;
      const { pageSize, after } = parsePage(list, page);
      const faults = new Map<string, string | undefined>();
      for (const { clusterID } of accounts) faults.set(clusterID, undefined);
      const ask = async (id: string) => void faults.set(id, await options.clusters.get(id)?.storageAccess.fault());
      await Promise.all([...faults.keys()].map(ask));
      const volumes: Volume[] = [];
      let last = '';
      for (const [key, row] of rowsOfAccounts({ store, table: TABLES.volumes }, accounts, after)) {
        if (volumes.length === pageSize) return { volumes, nextPageToken: renderPageToken(list, last) };
        const storage = options.clusters.get(row.clusterID)?.storage;
        // The cluster may have been removed meanwhile.
        if (storage === undefined) continue;
        const root = storagePaths.volume(storage, row.accountID, row.id);
        volumes.push(renderVolume(row, () => faults.get(row.clusterID) ?? volumeFault(root)));
        last = key;
      }
      return { volumes, nextPageToken: '' };
    },
    async delete(principal, ref, { force }) {
      // Only the key is used after the wait: the row may have changed.
      const { key } = await findDurable(store, () => find(store, principal, ref));
      if (!force) return deleteVolume(options, key);
      if ((await purge(key, () => true)) !== 'mounted') return;
      const why = 'a container that has not ended mounts it';
      throw new RequestError('VOLUME_MOUNTED', `could not force the deletion of the volume '${ref.id}' because ${why}`);
    },
    async undelete(principal, ref) {
      const { key, row } = find(store, principal, ref);
      await undeleteVolume(options, key, row);
    },
    purge: (key, deleteTime) =>
      purge(key, (row) => row.deleteTime !== undefined && timeKey(row.deleteTime) === deleteTime),
  };
}

function find(store: Store, principal: Principal, ref: Ref): { key: string; row: VolumeRow } {
  authorize(principal, ref);
  const key = store.get(TABLES.volumeIDs, idKey(ref));
  const row = key === undefined ? undefined : store.get(TABLES.volumes, key);
  if (key === undefined || row === undefined || row.phase === 'Deleted') {
    const where = `account ${ref.accountID} on cluster ${ref.clusterID}`;
    throw new RequestError('VOLUME_NOT_FOUND', `could not find the volume '${shorten(ref.id)}' of ${where}`);
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
    id: request.volumeID ?? `v-${randomId(20)}`,
  };
  if (!identifierSchema.safeParse(ref.id).success || ref.id === '-') {
    throw new RequestError(
      'ID_INVALID',
      `could not use the volume ID '${shorten(ref.id)}' because it is not 1 to 63 of a-z, 0-9 and -, or is the wildcard -`,
      {
        details: { field: 'volumeID' },
      },
    );
  }
  const cluster = options.clusters.get(ref.clusterID) ?? rejectScope();
  await checkStorage(cluster);
  await checkInodes(cluster);
  await checkStoredBytes(cluster, ref);
  if (options.clusters.get(ref.clusterID) !== cluster) rejectScope();
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
    ...renderVolume(row, () => undefined),
    ...(login === undefined ? {} : { service: { ...login, address: request.address(ref) } }),
  };
}

/** Has no effect on a volume that another call is deleting or has deleted. */
async function deleteVolume({ store, clock, onRevoked }: VolumeCallsOptions, key: string): Promise<void> {
  const row = store.get(TABLES.volumes, key);
  if (row?.phase !== 'Available') return store.commit([]);
  const deleteTime = clock.now();
  const { undeleteTime: _, ...rest } = row;
  const deleted: VolumeRow = { ...rest, phase: 'Deleting', state: 'deleted; can be undeleted', deleteTime };
  await store.commit([
    put(TABLES.volumes, key, deleted),
    put(TABLES.deletedVolumes, `${timeKey(deleteTime)}/${key}`, true),
  ]);
  onRevoked(deleted);
}

/** A repetition succeeds, since the reply of the first request may have been lost. */
async function undeleteVolume({ store, clock }: VolumeCallsOptions, key: string, row: VolumeRow): Promise<void> {
  const { deleteTime, ...rest } = row;
  if (row.phase === 'Available' && row.undeleteTime !== undefined) return store.commit([]);
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
    put(TABLES.volumes, key, { ...rest, phase: 'Available', state: 'available', undeleteTime: clock.now() }),
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
    renameSync(root, join(storagePaths.trash(storage), `stray-${ref.id}-${randomId(16)}`));
    mkdirSync(root, { mode: 0o755 });
  }
  return root;
}

/** A volume as an item of a list, without its login. If its files have a fault, it has the phase `Unknown`. */
function renderVolume(row: VolumeRow, faultOf: () => string | undefined): Volume {
  const fault = row.phase === 'Available' ? faultOf() : undefined;
  return {
    id: row.id,
    clusterID: row.clusterID,
    accountID: row.accountID,
    phase: fault === undefined ? row.phase : 'Unknown',
    state: fault === undefined ? row.state : `not usable until its files are back: ${fault}`,
    createTime: renderTime(row.createTime),
  };
}
