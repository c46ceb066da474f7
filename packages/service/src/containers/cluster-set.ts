import { readdir } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';
import { own } from '@sluice/client';
import { parseSize } from '@sluice/core';
import type { ClusterConfig, ServiceConfig } from '../config/service-config.ts';
import { ENGINE_FACTORIES } from '../engines/engine-factories.ts';
import type { EngineFactory, EngineSite } from '../engines/engine-factory.ts';
import type { Clock } from '../protocol/clock.ts';
import { removeForGood } from '../storage/remove-for-good.ts';
import { storagePaths } from '../storage/storage-paths.ts';
import { createStorageProbe } from '../storage/storage-probe.ts';
import type { Store } from '../store/store.ts';
import { TABLES } from '../store/tables.ts';
import { type Cluster, type ClusterOptions, createCluster, type LiveRow } from './cluster.ts';
import { PortNumbers } from './port-numbers.ts';
import type { EnvSealer } from './secret-envs.ts';

/** The clusters of a service, in the configuration's order. Clusters may be added and removed while the service runs. */
export interface ClusterSet extends ReadonlyMap<string, Cluster> {
  /** Recovers the containers of earlier processes on each cluster. Throws if there is one cluster and its engine cannot be opened. */
  open(): Promise<void>;
  /**
   * Opens new clusters concurrently. Returns for each why that is not possible, or undefined. An unavailable engine is
   * retried in the background.
   */
  add(configs: readonly ClusterConfig[], all: ServiceConfig): Promise<(string | undefined)[]>;
  /** Removes an empty cluster. Returns why that is not possible, or undefined. */
  remove(id: string): Promise<string | undefined>;
  /** Sorts the clusters by `ids`; the others follow. */
  sort(ids: readonly string[]): void;
  close(): Promise<void>;
}

/** What all clusters share, and the configuration that they are created from. */
export interface ClusterSetOptions
  extends Omit<
    ClusterOptions,
    'config' | 'storage' | 'probe' | 'engine' | 'ports' | 'mustOpen' | 'logLimitBytes' | 'isShared'
  > {
  readonly config: ServiceConfig;
  /** As in `ServiceOptions`. */
  readonly hiddenPaths: readonly string[];
  readonly sealer?: EnvSealer;
  /** Additional engines, by the name used in a cluster's `engine`. */
  readonly engines?: Readonly<Record<string, EngineFactory>>;
}

/** How long a start waits for the engines of several clusters. The others are unavailable until they have answered. */
const OPEN_MS = 5000;

/** Creates the clusters of the configuration. They do nothing before `open`. */
export async function createClusterSet(options: ClusterSetOptions): Promise<ClusterSet> {
  const { config, store } = options;
  const logLimitBytes = parseSize(config.logs.max);
  const clusters = new Map<string, Cluster>();
  const isShared = () => [...clusters.values()].flatMap(({ config }) => config.accounts).length > 1;
  const ports = new PortNumbers();
  const create = async (one: ClusterConfig, { all, mustOpen }: { all: ServiceConfig; mustOpen: boolean }) => {
    const storage = storageOf(all, one);
    const probe = createStorageProbe(storage);
    const engine = await createEngine(options, one, { all, site: { storage, storageAccess: probe } });
    const own = { config: one, storage, probe, engine, mustOpen };
    return createCluster({ ...options, ...own, ports, logLimitBytes, isShared });
  };
  const mustOpen = config.clusters.length === 1;
  for (const one of config.clusters) clusters.set(one.id, await create(one, { all: config, mustOpen }));
  return Object.assign(clusters, {
    async open() {
      const rows = liveRows(store);
      await Promise.all([...clusters.values()].map((one) => one.prepare(rows.get(one.id) ?? [])));
      // Each registers its live containers before it first waits, so that all are known from here on.
      const opened = Promise.all([...clusters.values()].map((one) => openOne(one, rows.get(one.id) ?? [])));
      await (config.clusters.length === 1 ? opened : within(OPEN_MS, opened, options.clock));
    },
    add: (added: readonly ClusterConfig[], all: ServiceConfig) =>
      addClusters(added, {
        ...{ clusters, root: config.root, rows: liveRows(store), clock: options.clock },
        create: (one) => create(one, { all, mustOpen: false }),
      }),
    async remove(id: string) {
      const cluster = clusters.get(id);
      const rest = cluster === undefined ? undefined : describeContents(cluster, store);
      if (cluster === undefined || rest !== undefined) return rest;
      // Removed first, so that no new container or volume can be created on it.
      clusters.delete(id);
      await cluster.close().catch((error: unknown) => {
        options.log.warn({ err: error, cluster: id }, 'could not close a cluster removed from the configuration');
      });
      return undefined;
    },
    sort(ids: readonly string[]) {
      const place = (id: string) => (ids.includes(id) ? ids.indexOf(id) : ids.length);
      const sorted = [...clusters].sort(([a], [b]) => place(a) - place(b));
      clusters.clear();
      for (const [id, cluster] of sorted) clusters.set(id, cluster);
    },
    async close() {
      await Promise.all([...clusters.values()].map((cluster) => cluster.close()));
    },
  });
}

interface AddOptions {
  readonly clusters: Map<string, Cluster>;
  readonly root: string;
  readonly rows: ReadonlyMap<string, readonly LiveRow[]>;
  readonly clock: Clock;
  readonly create: (config: ClusterConfig) => Promise<Cluster>;
}

/** As `ClusterSet.add`. */
async function addClusters(
  added: readonly ClusterConfig[],
  { clusters, root, rows, clock, create }: AddOptions,
): Promise<(string | undefined)[]> {
  const rowsOf = ({ id }: { readonly id: string }) => rows.get(id) ?? [];
  const prepare = async (one: ClusterConfig) => {
    const fault = exposedStorage(clusters, one, root);
    if (fault !== undefined) return fault;
    const cluster = await create(one);
    await cluster.prepare(rowsOf(one));
    return cluster;
  };
  const prepared = await Promise.all(added.map((one) => prepare(one).catch(messageOf)));
  const opening = prepared.map(async (cluster) => {
    if (typeof cluster === 'string') return;
    clusters.set(cluster.id, cluster);
    await openOne(cluster, rowsOf(cluster));
  });
  await within(OPEN_MS, Promise.all(opening), clock);
  return prepared.map((cluster) => (typeof cluster === 'string' ? cluster : undefined));
}

async function openOne(cluster: Cluster, rows: readonly LiveRow[]): Promise<void> {
  await cluster.open(rows);
  void emptyTrash(cluster);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Resolves when `work` does, or after `ms`; rejects if `work` does before. */
async function within(ms: number, work: Promise<unknown>, clock: Clock): Promise<void> {
  let cancel = () => {};
  const timeout = new Promise<void>((resolve) => {
    cancel = clock.after(ms, resolve);
  });
  await Promise.race([work, timeout]).finally(cancel);
}

/** Containers that have not ended or are not yet cleaned up, by cluster. */
function liveRows(store: Store): ReadonlyMap<string, LiveRow[]> {
  const rows = new Map<string, LiveRow[]>();
  for (const [key] of store.range(TABLES.liveContainers, { from: '', to: '~' })) {
    const row = store.get(TABLES.containers, key);
    if (row === undefined) continue;
    const ofCluster = rows.get(row.clusterID) ?? [];
    rows.set(row.clusterID, ofCluster);
    ofCluster.push([key, row]);
  }
  return rows;
}

/** Why containers of other clusters could read the storage of a new one; undefined if they could not. */
function exposedStorage(
  clusters: ReadonlyMap<string, Cluster>,
  { storage }: ClusterConfig,
  root: string,
): string | undefined {
  if (storage === undefined || isBeneath(root, storage)) return undefined;
  const exposing = [...clusters.values()].find(({ driver }) => !driver.hidesHost);
  if (exposing === undefined) return undefined;
  const why = "because that cluster's engine hides storages only at its start; restart the service";
  return `it has a storage outside of root, which containers of cluster ${exposing.id} could read, ${why}`;
}

/** Why a cluster cannot be removed; undefined if it is empty. */
function describeContents(cluster: Cluster, store: Store): string | undefined {
  const containers = [...cluster.containers.all()].length;
  const volumes = [...store.range(TABLES.volumes, { from: `${cluster.id}/`, to: `${cluster.id}0` })].length;
  if (containers + volumes === 0) return undefined;
  return `it has ${containers} containers that have not ended and ${volumes} volumes; end and delete them, or restart the service`;
}

function storageOf(config: ServiceConfig, cluster: ClusterConfig): string {
  return cluster.storage ?? join(config.root, 'clusters', cluster.id);
}

function isBeneath(root: string, path: string): boolean {
  const way = relative(root, path);
  return !way.startsWith('..') && !isAbsolute(way);
}

async function createEngine(
  options: ClusterSetOptions,
  cluster: ClusterConfig,
  { all, site }: { all: ServiceConfig; site: Pick<EngineSite, 'storage' | 'storageAccess'> },
) {
  const factory = own({ ...ENGINE_FACTORIES, ...options.engines }, cluster.engine);
  if (factory === undefined) {
    const known = Object.keys(ENGINE_FACTORIES).join(', ');
    throw new Error(`could not find the engine '${cluster.engine}' of cluster ${cluster.id}; there are ${known}`);
  }
  return factory({
    ...site,
    clusterID: cluster.id,
    maskedPaths: [all.root, ...options.hiddenPaths, ...all.clusters.flatMap(({ storage }) => storage ?? [])],
    options: cluster.options,
  });
}

/** Removes what an earlier process moved to the trash but did not remove. */
async function emptyTrash({ storage, storageAccess }: Cluster): Promise<void> {
  if ((await storageAccess.fault()) !== undefined) return;
  const trash = storagePaths.trash(storage);
  for (const name of await storageAccess.inThread(() => readdir(trash)).catch(() => [])) {
    await removeForGood(join(trash, name), storageAccess).catch(() => {});
  }
}
