import type { Container, LogCut, LogFile, Ref, Scope } from '@sluice/client';
import { authorize, rejectScope } from '../accounts/authorize.ts';
import type { Principal } from '../accounts/principal.ts';
import type { Cluster } from '../containers/cluster.ts';
import { findLogCut } from '../containers/find-log-cut.ts';
import { type ListedContainer, listContainers } from '../containers/list-containers.ts';
import type { LiveContainer } from '../containers/live-container.ts';
import { type LogOptions, type LogWriter, logSize, readLog } from '../containers/read-log.ts';
import { renderContainer } from '../containers/render-container.ts';
import { parsePage, renderPageToken } from '../protocol/page.ts';
import { RequestError } from '../protocol/request-error.ts';
import { shorten } from '../protocol/shorten.ts';
import { storagePaths } from '../storage/storage-paths.ts';
import type { ContainerRow } from '../store/container-row.ts';
import { findDurable } from '../store/find-durable.ts';
import { put, remove } from '../store/store.ts';
import { idKey, TABLES, timeKey } from '../store/tables.ts';
import { checkStorage } from './check-storage.ts';
import { type CreateContainerOptions, createContainer } from './create-container.ts';

/** The operations of the container endpoints, for HTTP and in-process callers. Each call authorizes the principal. */
export interface ContainerCalls {
  create(principal: Principal, scope: Scope, request: { spec: unknown; containerID?: string }): Promise<Container>;
  get(principal: Principal, ref: Ref): Promise<Container>;
  list(
    principal: Principal,
    scope: Scope,
    page: { all?: boolean | undefined; pageSize?: number | undefined; token?: string | undefined },
  ): Promise<{ containers: readonly ListedContainer[]; nextPageToken: string }>;
  logs(principal: Principal, ref: Ref, options: LogOptions): Promise<LogStream>;
  openLog(principal: Principal, ref: Ref): Promise<LogFile>;
  cancel(principal: Principal, ref: Ref): Promise<void>;
  delete(principal: Principal, ref: Ref): Promise<void>;
}

/** The bytes of a log. */
export interface LogStream extends AsyncIterable<Uint8Array> {
  /** The last cut of the log when the reading began; undefined if it was not cut. */
  readonly cut?: LogCut | undefined;
}

/** What `createContainerCalls` works on. */
export interface ContainerCallsOptions extends CreateContainerOptions {
  /** Time between the stop signal and the kill of a canceled container. */
  readonly cancelGraceMs: number;
}

/** Starts no work. */
export function createContainerCalls(options: ContainerCallsOptions): ContainerCalls {
  const { store } = options;

  async function findLog(principal: Principal, ref: Ref) {
    const { live, row, cluster } = await find(options, principal, ref);
    // Otherwise logs would appear empty while the storage is unavailable, and a client might then delete the container.
    await checkStorage(cluster, ['containers']);
    return {
      ...{ path: storagePaths.log(cluster.storage, row.launchKey), access: cluster.storageAccess },
      writer: live && logWriterOf(live),
      limitBytes: cluster.logLimitBytes,
    };
  }

  return {
    create: (principal, scope, request) => createContainer(options, { principal, scope, ...request }),
    async get(principal, ref) {
      const { live, row } = await find(options, principal, ref);
      return renderContainer(row, live === undefined ? row.state : live.cluster.containers.stateOf(live.entry));
    },
    async list(principal, scope, page) {
      authorize(principal, scope);
      const list = `containers ${scope.clusterID}/${scope.accountID} ${page.all === true}`;
      const request = { ...parsePage(list, page), ...scope, all: page.all === true };
      const { containers } = clusterOf(options, scope.clusterID);
      const listed = listContainers({ store, containers }, request);
      const nextPageToken = listed.hasMore ? renderPageToken(list, listed.containers.at(-1)!.key) : '';
      return { containers: listed.containers, nextPageToken };
    },
    async logs(principal, ref, logOptions) {
      const { writer, limitBytes, ...log } = await findLog(principal, ref);
      checkTail(logOptions.tail);
      const cut = await findLogCut(log, limitBytes);
      return Object.assign(readLog(log, logOptions, writer), { cut });
    },
    async openLog(principal, ref) {
      const { writer, limitBytes, ...log } = await findLog(principal, ref);
      const cut = await findLogCut(log, limitBytes);
      return { size: logSize(log.path), cut, read: (range) => readLog(log, range, writer) };
    },
    cancel: (principal, ref) => cancelContainer(options, principal, ref),
    delete: (principal, ref) => deleteContainer(options, principal, ref),
  };
}

async function cancelContainer(options: ContainerCallsOptions, principal: Principal, ref: Ref): Promise<void> {
  for (;;) {
    const { live, row } = await find(options, principal, ref);
    if (live !== undefined) {
      if (await live.cluster.containers.cancel(live.entry, options.cancelGraceMs)) return;
      continue;
    }
    if (row.phase === 'Canceled') return;
    throw new RequestError('CONTAINER_ENDED', `could not cancel the container '${ref.id}' because it is ${row.phase}`, {
      details: { phase: row.phase },
    });
  }
}

async function deleteContainer(options: ContainerCallsOptions, principal: Principal, ref: Ref): Promise<void> {
  const { store } = options;
  const { live, row, rowKey, cluster } = await findDurable(store, () => find(options, principal, ref));
  const unlink = remove(TABLES.containerIDs, idKey(ref));
  if (live !== undefined && !live.entry.ending) return cluster.containers.delete(live.entry, [unlink]);
  if (live !== undefined) {
    await new Promise<void>((resolve) => live.entry.onGone.add(resolve));
    return deleteContainer(options, principal, ref);
  }
  const deleted: ContainerRow = { ...row, deleted: true };
  await store.commit([
    put(TABLES.containers, rowKey, deleted),
    put(TABLES.liveContainers, rowKey, true),
    remove(TABLES.endedContainers, `${timeKey(row.endTime!)}/${rowKey}`),
    remove(TABLES.endedItems, rowKey),
    unlink,
  ]);
  await cluster.containers.sweep(rowKey, deleted);
}

function clusterOf({ clusters }: CreateContainerOptions, clusterID: string): Cluster {
  // The cluster may have been removed from the configuration since the caller was authenticated.
  return clusters.get(clusterID) ?? rejectScope();
}

async function find(options: CreateContainerOptions, principal: Principal, ref: Ref): Promise<Found> {
  authorize(principal, ref);
  const { store } = options;
  const cluster = clusterOf(options, ref.clusterID);
  const rowKey = store.get(TABLES.containerIDs, idKey(ref));
  const entry = rowKey === undefined ? undefined : cluster.containers.get(rowKey);
  // A container whose creation is not yet durable, or has failed, does not exist for callers.
  const isThere = entry === undefined || (await isFulfilled(entry.created));
  const row = isThere ? (entry?.row ?? (rowKey && store.get(TABLES.containers, rowKey))) : undefined;
  if (!rowKey || !row || row.deleted) {
    const where = `account ${ref.accountID} on cluster ${ref.clusterID}`;
    throw new RequestError('CONTAINER_NOT_FOUND', `could not find the container '${shorten(ref.id)}' of ${where}`);
  }
  const live = entry !== undefined && cluster.containers.get(rowKey) === entry ? { cluster, entry } : undefined;
  return { live, row, rowKey, cluster };
}

function isFulfilled(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => true,
    () => false,
  );
}

function logWriterOf({ cluster, entry }: { cluster: Cluster; entry: LiveContainer }): LogWriter {
  return {
    notifier: cluster.logNotifier,
    isLive: () => cluster.containers.get(entry.rowKey) === entry,
    onEnd(listener) {
      entry.onGone.add(listener);
      return () => entry.onGone.delete(listener);
    },
  };
}

function checkTail(tail: number | undefined): void {
  if (tail === undefined || (Number.isSafeInteger(tail) && tail >= 0)) return;
  throw new RequestError(
    'PARAMETER_INVALID',
    `could not use tail ${tail} because it is not a whole number of at least 0`,
    {
      details: { field: 'tail' },
    },
  );
}

interface Found {
  readonly live: { readonly cluster: Cluster; readonly entry: LiveContainer } | undefined;
  readonly row: ContainerRow;
  readonly rowKey: string;
  readonly cluster: Cluster;
}
