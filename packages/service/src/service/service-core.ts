import { join } from 'node:path';
import type { ChangeHint } from '@sluice/client';
import { parseDuration } from '@sluice/core';
import { type Logger, pino } from 'pino';
import type { ServedService } from '../api/served-service.ts';
import { createContainerCalls } from '../calls/container-calls.ts';
import { createServiceCalls, type ServiceCalls, type ServiceCallsOptions } from '../calls/service-calls.ts';
import { createVolumeCalls } from '../calls/volume-calls.ts';
import type { ServiceConfig } from '../config/service-config.ts';
import type { Cluster } from '../containers/cluster.ts';
import { createClusterSet } from '../containers/cluster-set.ts';
import { type ReloadReport, reloadConfig } from '../containers/reload-config.ts';
import { type Clock, systemClock } from '../protocol/clock.ts';
import type { PortExposure } from '../proxy/open-port-proxy.ts';
import { storagePaths } from '../storage/storage-paths.ts';
import { createStorageProbe } from '../storage/storage-probe.ts';
import { openLmdbStore } from '../store/lmdb-store.ts';
import { requireVersion } from '../store/require-version.ts';
import { openSequence } from '../store/sequence.ts';
import type { Store } from '../store/store.ts';
import { TABLES } from '../store/tables.ts';
import type { SftpFront } from '../volumes/open-sftp.ts';
import { startVolumeSweep } from '../volumes/sweep-volumes.ts';
import { createTransferThrottle } from '../volumes/transfer-throttle.ts';
import type { VolumeAccess, VolumeIdentity } from '../volumes/volume-access.ts';
import { startRetention } from './retention.ts';
import { openRetentionTime } from './retention-time.ts';
import type { ServiceOptions } from './service-options.ts';

/** More than normal use needs; each costs a few kilobytes of memory. */
const MAX_LIVE_PER_ACCOUNT = 200_000;

/** A service without listeners. Listeners and the in-process service are built on it. */
export interface ServiceCore extends ServedService {
  /** Applies the changes that are possible without a restart. */
  reload(config: ServiceConfig): Promise<ReloadReport>;
  close(): Promise<void>;
}

/** Opens the store, the clusters, the port proxy and SFTP. The caller holds the lock of the store. */
export async function openServiceCore(options: ServiceOptions): Promise<ServiceCore> {
  const { config, clock = systemClock, log = pino({ level: 'silent' }) } = options;
  const store = openLmdbStore(join(config.root, 'store'), Object.values(TABLES), {
    onShortage(reason) {
      if (reason === undefined)
        log.info('the disk of the store has free space again; new containers and volumes are accepted');
      else
        log.error(
          { reason },
          'the disk of the store is full; new containers and volumes are rejected until space is free',
        );
    },
    onFailure(error) {
      log.fatal({ err: error }, 'the disk of the store has failed; restart the service once the disk works');
      options.onFailure?.(error);
    },
  });
  try {
    await requireVersion(store, config.root);
    return await assemble({ ...options, clock, log }, store);
  } catch (error) {
    await store.close();
    throw error;
  }
}

type AssembleOptions = ServiceOptions & { readonly clock: Clock; readonly log: Logger };

interface CallsParts extends Pick<ServiceCallsOptions, 'store' | 'clusters' | 'listeners' | 'sftpAddress'> {
  readonly exposure: PortExposure | undefined;
  /** Called when a volume is no longer available. */
  readonly revocations: ReadonlySet<(volume: VolumeIdentity) => void>;
}

async function assemble(options: AssembleOptions, store: Store): Promise<ServiceCore> {
  const { config, clock, log } = options;
  const listeners = new Set<(hint: ChangeHint) => void>();
  let failure: unknown;
  const exposure = await openExposure(config, { clock, log });
  const clusters = await createClusterSet({
    ...{ store, clock, log, config, cancelGraceMs: parseDuration(config.cancelGrace), exposure },
    ...(options.engines === undefined ? {} : { engines: options.engines }),
    hiddenPaths: options.hiddenPaths ?? [],
    ...(options.sealer && { sealer: options.sealer }),
    onChange: ({ clusterID, accountID, id }) => {
      for (const listener of listeners) listener({ clusterID, accountID, containerID: id });
    },
    onFailure(error) {
      failure ??= error;
      log.fatal({ err: error }, 'the service cannot continue');
      options.onFailure?.(error);
    },
  });
  let sftp: SftpFront | undefined;
  const sftpAddress = () => (sftp === undefined ? {} : { sftp: sftp.address });
  const revocations = new Set<(volume: VolumeIdentity) => void>();
  const calls = createCalls(options, { store, clusters, exposure, listeners, revocations, sftpAddress });
  const volumeAccess = openVolumeAccess({ clusters, calls, revocations });
  const transferThrottle = createTransferThrottle(() => clock.now());
  await clusters.open();
  await exposure?.listen();
  if (config.sftp !== undefined) {
    const { openSftp } = await import('../volumes/open-sftp.ts');
    const { root, sftp: at } = config;
    sftp = await openSftp({ root, at, access: volumeAccess, throttle: transferThrottle, log });
  }
  const time = openRetentionTime({ store, clock, log });
  const stopSweep = startVolumeSweep({
    ...{ root: config.root, clock, log, now: time.now },
    clusters,
  });
  const stopRetention = startRetention({
    ...{ store, clock, time, log, clusters, volumes: calls.volumes },
    volumeMs: parseDuration(config.retention.volumes),
    containerMs: parseDuration(config.retention.containers),
  });
  return {
    ...{ config, store, clusters, calls, clock, log, retentionTime: time.now },
    ...{ volumeAccess, transferThrottle, sftpAddress, freeInodes: createStorageProbe(config.root).freeInodes },
    ...(options.extend && { extend: options.extend }),
    failure: () => failure ?? store.failure,
    furtherMetrics: options.metrics ?? (() => Promise.resolve([])),
    async reload(next) {
      await exposure?.refreshCertificate();
      return reloadConfig({ started: config, next, clusters });
    },
    async close() {
      await Promise.all([sftp?.close(), exposure?.close()]);
      await Promise.all([stopRetention(), stopSweep()]);
      await clusters.close();
      await store.close();
    },
  };
}

function createCalls({ config, clock, log }: AssembleOptions, parts: CallsParts): ServiceCalls {
  const { store, clusters, exposure, listeners, revocations, sftpAddress } = parts;
  const sequence = openSequence(store);
  const containers = createContainerCalls({
    ...{ store, clusters, sequence, clock, hostFor: exposure?.hostFor },
    cancelGraceMs: parseDuration(config.cancelGrace),
    retentionMs: parseDuration(config.retention.containers),
    maxLive: MAX_LIVE_PER_ACCOUNT,
  });
  const volumes = createVolumeCalls({
    ...{ store, clusters, sequence, clock, log },
    retentionMs: parseDuration(config.retention.volumes),
    onRevoked({ clusterID, accountID, id }) {
      for (const listener of revocations) listener({ clusterID, accountID, volumeID: id });
    },
  });
  return createServiceCalls({ store, clusters, containers, volumes, listeners, sftpAddress });
}

async function openExposure(
  config: ServiceConfig,
  given: { clock: Clock; log: Logger },
): Promise<PortExposure | undefined> {
  if (config.ports === undefined) return undefined;
  const { openPortProxy } = await import('../proxy/open-port-proxy.ts');
  return openPortProxy(config.ports, { root: config.root, ...given });
}

function openVolumeAccess(options: {
  readonly clusters: ReadonlyMap<string, Cluster>;
  readonly calls: ServiceCalls;
  readonly revocations: Set<(volume: VolumeIdentity) => void>;
}): VolumeAccess {
  return {
    async authenticate(username, password) {
      const opened = options.calls.openVolumeOf({ username, password });
      if (opened === undefined) return undefined;
      const { clusterID, accountID, id: volumeID } = opened.row;
      const cluster = options.clusters.get(clusterID)!;
      const { storage } = cluster;
      const propertiesPath = storagePaths.properties(storage, accountID, volumeID);
      const { root, space } = opened;
      return { clusterID, accountID, volumeID, root, propertiesPath, storage: cluster.storageAccess, space };
    },
    onRevoked(listener) {
      options.revocations.add(listener);
      return () => options.revocations.delete(listener);
    },
  };
}
