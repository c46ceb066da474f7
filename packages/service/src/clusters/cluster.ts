import { existsSync } from 'node:fs';
import { isTerminalPhase } from '@sluice/client';
import type { Logger } from 'pino';
import type { ClusterConfig, InstanceTypeConfig } from '../config/service-config.ts';
import { LiveContainers } from '../containers/live-containers.ts';
import { PortNumbers } from '../containers/port-numbers.ts';
import type { Engine } from '../engines/engine.ts';
import { EngineDriver } from '../engines/engine-driver.ts';
import type { Clock } from '../host/clock.ts';
import type { PortExposure } from '../proxy/open-port-proxy.ts';
import { removeContainerDirectory } from '../storage/remove-container-directory.ts';
import { makeStorage, storagePaths } from '../storage/storage-paths.ts';
import type { ContainerRow } from '../store/container-row.ts';
import type { Store } from '../store/store.ts';
import { createVolumeUsage, type VolumeUsage } from '../volumes/volume-usage.ts';
import { ExposedHosts } from './exposed-hosts.ts';

/** A cluster with its engine, its storage and its live containers. */
export interface Cluster {
  readonly id: string;
  /** The current configuration; `reconfigure` replaces it. */
  readonly config: ClusterConfig;
  readonly storage: string;
  /** The maximum size of each container's log. */
  readonly logLimitBytes: number;
  readonly instanceTypes: ReadonlyMap<string, InstanceTypeConfig>;
  readonly containers: LiveContainers;
  readonly usage: VolumeUsage;
  readonly ports: PortNumbers;
  readonly driver: EngineDriver;
  /** Creates its storage. Call it on all clusters before opening the first: engines hide only existing storages from containers. */
  prepare(rows: readonly (readonly [rowKey: string, row: ContainerRow])[]): void;
  /** Recovers the containers of an earlier process. Throws only if `mustOpen` is set and the engine cannot be opened. */
  open(rows: readonly (readonly [rowKey: string, row: ContainerRow])[]): Promise<void>;
  /** Replaces the given fields. Live containers of removed accounts and instance types continue. */
  reconfigure(changed: Pick<ClusterConfig, 'accounts' | 'instanceTypes' | 'quota'>): void;
  close(): Promise<void>;
}

/** What `createCluster` combines; most of it is shared by all clusters of a service. */
export interface ClusterOptions {
  readonly config: ClusterConfig;
  readonly storage: string;
  readonly logLimitBytes: number;
  readonly engine: Engine;
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
  const { storage, store, clock, log, logLimitBytes } = options;
  let { config } = options;
  const ports = new PortNumbers();
  const instanceTypes = new Map(config.instanceTypes.map((type) => [type.id, type]));
  const settings = { storage, logLimitBytes, instanceTypes };
  const driver = new EngineDriver({
    engine: options.engine,
    clock,
    log,
    storage,
    sink: { report: (key, observation) => containers.report(key, observation) },
  });
  const { findProcess } = driver;
  const exposed = new ExposedHosts({ exposure: options.exposure, isShared: options.isShared, findProcess, log });
  const containers: LiveContainers = new LiveContainers({
    clusterID: config.id,
    store,
    clock,
    driver,
    capacity: config.capacity,
    settings,
    onUnreachable: (row) => exposed.remove(row),
    onChange(row) {
      // Before the change is reported, so that a port is reachable exactly while the phase is Running.
      if (row.phase === 'Running') exposed.add(row);
      else exposed.remove(row);
      if (isTerminalPhase(row.phase)) for (const port of Object.values(row.ports)) ports.release(port);
      options.onChange(row);
    },
    removeDirectory: (launchKey) => void removeContainerDirectory(launchKey, options),
    cleanUp(row) {
      for (const port of Object.values(row.ports)) ports.release(port);
      return removeContainerDirectory(row.launchKey, options);
    },
    onFailure: options.onFailure,
  });

  return {
    id: config.id,
    get config() {
      return config;
    },
    ...settings,
    containers,
    usage: createVolumeUsage(storage),
    ports,
    driver,
    prepare(rows) {
      // If there are live containers but no storage, it is unavailable. Creating it would make them look as if they never ran.
      if (rows.length === 0 || existsSync(storagePaths.containers(storage))) makeStorage(storage);
    },
    async open(rows) {
      const launches = restore(rows).map((entry) => entry.launch);
      try {
        await driver.open(launches);
      } catch (error) {
        if (options.mustOpen) throw error;
        void driver.openEventually(launches).then((isOpen) => isOpen && settle(rows));
        return;
      }
      settle(rows);
    },
    reconfigure({ accounts, instanceTypes: types, quota }) {
      config = { ...config, accounts, instanceTypes: types, quota };
      instanceTypes.clear();
      for (const type of types) instanceTypes.set(type.id, type);
    },
    close: () => driver.close(),
  };

  /** Continues what was in progress when the earlier process ended. */
  function settle(rows: readonly (readonly [string, ContainerRow])[]): void {
    for (const [rowKey, row] of rows) {
      const entry = containers.get(rowKey);
      if (entry?.row.phase === 'Running' && !entry.ending && !entry.row.deleted) exposed.add(entry.row);
      if (entry === undefined && row.deleted) containers.sweep(rowKey, row).catch(options.onFailure);
      else if (entry === undefined) continue;
      else if (row.deleted) void containers.destroy(entry);
      else if (row.phase === 'Canceling' && !entry.ending) driver.stop(entry.launch, options.cancelGraceMs);
    }
    containers.queue.pump();
  }

  function restore(rows: readonly (readonly [string, ContainerRow])[]) {
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
}
