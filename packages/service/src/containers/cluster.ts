import { existsSync } from 'node:fs';
import { isTerminalPhase } from '@sluice/client';
import type { Logger } from 'pino';
import { quotaOf } from '../accounts/quota.ts';
import { amountOf } from '../config/amount-of.ts';
import type { ClusterConfig, InstanceTypeConfig } from '../config/service-config.ts';
import type { Engine, EngineSink } from '../engines/engine.ts';
import { EngineDriver } from '../engines/engine-driver.ts';
import type { Clock } from '../protocol/clock.ts';
import type { PortExposure } from '../proxy/open-port-proxy.ts';
import { removeContainerDirectory } from '../storage/remove-container-directory.ts';
import type { StorageAccess } from '../storage/storage-access.ts';
import { makeStorage, storagePaths } from '../storage/storage-paths.ts';
import type { StorageProbe } from '../storage/storage-probe.ts';
import type { ContainerRow } from '../store/container-row.ts';
import type { Store } from '../store/store.ts';
import { createVolumeUsage, type VolumeUsage } from '../volumes/volume-usage.ts';
import { ExposedHosts } from './exposed-hosts.ts';
import { LiveContainers } from './live-containers.ts';
import { LogNotifier } from './log-notifier.ts';
import type { PortNumbers } from './port-numbers.ts';
import type { EnvSealer } from './secret-envs.ts';

/** A container that has not ended or is not yet cleaned up, as stored. */
export type LiveRow = readonly [rowKey: string, row: ContainerRow];

/** A cluster with its engine, its storage and its live containers. */
export interface Cluster {
  readonly id: string;
  /** The current configuration; `reconfigure` replaces it. */
  readonly config: ClusterConfig;
  readonly storage: string;
  readonly storageAccess: StorageAccess;
  /** The inodes that are free in the storage. */
  readonly freeInodes: StorageProbe['freeInodes'];
  /** Polls the logs in the storage. */
  readonly logNotifier: LogNotifier;
  /** The maximum size of each container's log. */
  readonly logLimitBytes: number;
  readonly instanceTypes: ReadonlyMap<string, InstanceTypeConfig>;
  readonly containers: LiveContainers;
  readonly usage: VolumeUsage;
  readonly ports: PortNumbers;
  readonly driver: EngineDriver;
  readonly sealer: EnvSealer | undefined;
  /** Creates its storage. Call it on all clusters before opening the first: engines hide only existing storages from containers. */
  prepare(rows: readonly LiveRow[]): Promise<void>;
  /** Recovers the containers of an earlier process. Throws only if `mustOpen` is set and the engine cannot be opened. */
  open(rows: readonly LiveRow[]): Promise<void>;
  /** Replaces the given fields. Live containers of removed accounts and instance types continue. */
  reconfigure(changed: Pick<ClusterConfig, 'accounts' | 'instanceTypes' | 'quota'>): void;
  close(): Promise<void>;
}

/** What `createCluster` combines; most of it is shared by all clusters of a service. */
export interface ClusterOptions {
  readonly config: ClusterConfig;
  readonly storage: string;
  readonly probe: StorageProbe;
  readonly logLimitBytes: number;
  readonly engine: Engine;
  /** Shared by all clusters, since containers of several may run on one machine. */
  readonly ports: PortNumbers;
  readonly sealer?: EnvSealer;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Exposes ports; undefined if this service exposes none. */
  readonly exposure: PortExposure | undefined;
  /** Whether the service has more than one account. */
  readonly isShared: () => boolean;
  readonly cancelGraceMs: number;
  /** Whether `open` throws if the engine cannot be opened, instead of retrying in the background. */
  readonly mustOpen: boolean;
  readonly onChange: (row: ContainerRow) => void;
  readonly onFailure: (error: unknown) => void;
}

/** Does nothing until `prepare` and `open`. */
export function createCluster(options: ClusterOptions): Cluster {
  const { storage, probe } = options;
  let { config } = options;
  let isClosed = false;
  const parts = createParts(options);
  const { settings, driver, containers } = parts;
  return {
    id: config.id,
    get config() {
      return config;
    },
    ...settings,
    sealer: options.sealer,
    containers,
    usage: createVolumeUsage({ storage, access: probe, limitOf: (accountID) => quotaOf(config, accountID).volumes }),
    storageAccess: probe,
    freeInodes: probe.freeInodes,
    logNotifier: new LogNotifier(probe.fault),
    ports: options.ports,
    driver,
    async prepare(rows) {
      // Its directories are those of an earlier start.
      if ((await probe.fault()) !== undefined) return;
      // If there are live containers but no storage, it is unavailable. Creating it would make them look as if they never ran.
      if (rows.length === 0 || existsSync(storagePaths.containers(storage))) makeStorage(storage);
    },
    async open(rows) {
      const launches = restore(parts, rows).map((entry) => entry.launch);
      try {
        await driver.open(launches);
      } catch (error) {
        if (options.mustOpen) throw error;
        void driver.openEventually(launches).then((isOpen) => isOpen && settle(parts, rows, options));
        return;
      }
      // The engine may answer only after the service has closed.
      if (!isClosed) settle(parts, rows, options);
    },
    reconfigure({ accounts, instanceTypes: types, quota }) {
      config = { ...config, accounts, instanceTypes: types, quota };
      settings.instanceTypes.clear();
      for (const type of types) settings.instanceTypes.set(type.id, type);
    },
    close() {
      isClosed = true;
      return driver.close();
    },
  };
}

type Parts = ReturnType<typeof createParts>;

/** The engine's driver, the containers and the exposed ports of a cluster, connected to each other. */
function createParts(options: ClusterOptions) {
  const { config, storage, probe, store, clock, log, logLimitBytes, engine, ports, exposure, isShared } = options;
  const settings = {
    storage,
    logLimitBytes,
    sealer: options.sealer,
    instanceTypes: new Map(config.instanceTypes.map((type) => [type.id, type])),
  };
  const sink: EngineSink = { report: (key, observation) => containers.report(key, observation) };
  const driver = new EngineDriver({
    ...{ engine, clock, log, sink, storage },
    storageAccess: probe,
    isDiskFull: probe.isFull,
  });
  const exposed = new ExposedHosts({ exposure, isShared, findProcess: driver.findProcess, log });
  const releasePorts = (row: ContainerRow) => {
    for (const port of Object.values(row.ports)) ports.release(port);
  };
  const containers = new LiveContainers({
    clusterID: config.id,
    ...{ store, clock, driver, settings, capacity: config.capacity && amountOf(config.capacity) },
    onUnreachable: (row) => exposed.remove(row),
    onChange(row) {
      // Before the change is reported, so that a port is reachable exactly while the phase is Running.
      if (row.phase === 'Running') exposed.add(row);
      else exposed.remove(row);
      if (isTerminalPhase(row.phase)) releasePorts(row);
      options.onChange(row);
    },
    removeDirectory: (launchKey) => void removeContainerDirectory(launchKey, { storage, storageAccess: probe, log }),
    cleanUp(row) {
      // Those of an ended container were released at its end, and may belong to another one now.
      if (!isTerminalPhase(row.phase)) releasePorts(row);
      return removeContainerDirectory(row.launchKey, { storage, storageAccess: probe, log });
    },
    onFailure: options.onFailure,
  });
  return { ports, settings, driver, exposed, containers };
}

/** Registers the live containers of an earlier process. */
function restore({ ports, containers }: Parts, rows: readonly LiveRow[]) {
  const unended = rows.filter(([, row]) => !isTerminalPhase(row.phase));
  return unended.map(([rowKey, stored]) => {
    // Pending is not stored, but an earlier process may have reported it, and phases must not go back.
    const row: ContainerRow =
      stored.phase === 'Creating'
        ? { ...stored, phase: 'Pending', state: 'waiting for the engine to report it' }
        : stored;
    for (const port of Object.values(row.ports)) ports.hold(port);
    // Whether it was submitted to the engine is not stored, which saves a write; the engine reports what it knows.
    return containers.restore(rowKey, row);
  });
}

/** Continues what was in progress when the earlier process ended. */
function settle(
  { containers, driver, exposed }: Parts,
  rows: readonly LiveRow[],
  { cancelGraceMs, onFailure }: Pick<ClusterOptions, 'cancelGraceMs' | 'onFailure'>,
): void {
  for (const [rowKey, row] of rows) {
    const entry = containers.get(rowKey);
    if (entry?.row.phase === 'Running' && !entry.ending && !entry.row.deleted) exposed.add(entry.row);
    if (entry === undefined && row.deleted) containers.sweep(rowKey, row).catch(onFailure);
    else if (entry === undefined) continue;
    else if (row.deleted) void containers.destroy(entry);
    else if (row.phase === 'Canceling' && !entry.ending) driver.stop(entry.launch, cancelGraceMs);
  }
  containers.queue.pump();
}
