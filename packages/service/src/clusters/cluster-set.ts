import { readdir } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';
import { own } from '@sluice/client';
import { parseSize } from '../config/parse-size.ts';
import type { ClusterConfig, ServiceConfig } from '../config/service-config.ts';
import type { EnvSealer } from '../containers/secret-envs.ts';
import { ENGINE_FACTORIES } from '../engines/engine-factories.ts';
import type { EngineFactory } from '../engines/engine-factory.ts';
import type { Clock } from '../host/clock.ts';
import { removeForGood } from '../storage/remove-for-good.ts';
import { storagePaths } from '../storage/storage-paths.ts';
import type { Store } from '../store/store.ts';
import { TABLES } from '../store/tables.ts';
import { type Cluster, type ClusterOptions, createCluster, type LiveRow } from './cluster.ts';

/** The clusters of a service, in the configuration's order. Clusters may be added and removed while the service runs. */
export interface ClusterSet extends ReadonlyMap<string, Cluster> {
  /** Recovers the containers of earlier processes on each cluster. Throws if there is one cluster and its engine cannot be opened. */
  open(): Promise<void>;
  /** Opens a new cluster. Returns why that is not possible, or undefined. An unavailable engine is retried in the background. */
  add(config: ClusterConfig, all: ServiceConfig): Promise<string | undefined>;
  /** Removes an empty cluster. Returns why that is not possible, or undefined. */
  remove(id: string): Promise<string | undefined>;
  /** Sorts the clusters by `ids`; the others follow. */
  sort(ids: readonly string[]): void;
  close(): Promise<void>;
}

/** What all clusters share, and the configuration that they are created from. */
export interface ClusterSetOptions
  extends Omit<ClusterOptions, 'config' | 'storage' | 'engine' | 'mustOpen' | 'logLimitBytes' | 'isShared'> {
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
  const create = async (one: ClusterConfig, { all, mustOpen }: { all: ServiceConfig; mustOpen: boolean }) => {
    const engine = await createEngine(options, one, all);
    const storage = storageOf(all, one);
    return createCluster({ ...options, config: one, storage, engine, mustOpen, logLimitBytes, isShared });
  };
  const mustOpen = config.clusters.length === 1;
  for (const one of config.clusters) clusters.set(one.id, await create(one, { all: config, mustOpen }));
  const openOne = async (cluster: Cluster, rows: readonly LiveRow[]) => {
    await cluster.open(rows);
    void emptyTrash(cluster);
  };
  return Object.assign(clusters, {
    async open() {
      const rows = liveRows(store);
      await Promise.all([...clusters.values()].map((one) => one.prepare(rows.get(one.id) ?? [])));
      // Each registers its live containers before it first waits, so that all are known from here on.
      const opened = Promise.all([...clusters.values()].map((one) => openOne(one, rows.get(one.id) ?? [])));
      await (config.clusters.length === 1 ? opened : within(OPEN_MS, opened, options.clock));
    },
    async add(added: ClusterConfig, all: ServiceConfig) {
      const fault = exposedStorage(clusters, added, config.root);
      if (fault !== undefined) return fault;
      try {
        const cluster = await create(added, { all, mustOpen: false });
        const rows = liveRows(store).get(added.id) ?? [];
        await cluster.prepare(rows);
        await openOne(cluster, rows);
        clusters.set(added.id, cluster);
        return undefined;
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    },
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

async function createEngine(options: ClusterSetOptions, cluster: ClusterConfig, all: ServiceConfig) {
  const factory = own({ ...ENGINE_FACTORIES, ...options.engines }, cluster.engine);
  if (factory === undefined) {
    const known = Object.keys(ENGINE_FACTORIES).join(', ');
    throw new Error(`could not find the engine '${cluster.engine}' of cluster ${cluster.id}; there are ${known}`);
  }
  return factory({
    clusterID: cluster.id,
    storage: storageOf(all, cluster),
    maskedPaths: [all.root, ...options.hiddenPaths, ...all.clusters.flatMap(({ storage }) => storage ?? [])],
    options: cluster.options,
  });
}

/** Removes what an earlier process moved to the trash but did not remove. */
async function emptyTrash({ storage, storageAccess }: Cluster): Promise<void> {
  if ((await storageAccess.fault()) !== undefined) return;
  const trash = storagePaths.trash(storage);
  for (const name of await readdir(trash).catch(() => [])) {
    await removeForGood(join(trash, name)).catch(() => {});
  }
}
