import type { MetricFamily } from '@sluice/host-system';
import type { Logger } from 'pino';
import type { ServiceCalls } from '../calls/service-calls.ts';
import type { ServiceConfig } from '../config/service-config.ts';
import type { Cluster } from '../containers/cluster.ts';
import type { Clock } from '../protocol/clock.ts';
import type { StorageProbe } from '../storage/storage-probe.ts';
import type { Store } from '../store/store.ts';
import type { TransferThrottle } from '../volumes/transfer-throttle.ts';
import type { VolumeAccess } from '../volumes/volume-access.ts';
import type { ServiceExtension } from './service-extension.ts';

/** The part of a service that its listeners use. */
export interface ServedService {
  readonly config: ServiceConfig;
  readonly store: Store;
  /** The inodes that are free on the disk of the root. */
  readonly freeInodes: StorageProbe['freeInodes'];
  readonly clusters: ReadonlyMap<string, Cluster>;
  readonly calls: ServiceCalls;
  /** Authenticates access to volume files over WebDAV and SFTP. */
  readonly volumeAccess: VolumeAccess;
  /** Shared by WebDAV and SFTP, so that password guessing is slowed down across both. */
  readonly transferThrottle: TransferThrottle;
  /** The address of the SFTP server; empty if there is none. */
  readonly sftpAddress: () => { sftp?: string };
  readonly clock: Clock;
  /** The time that removals by age use; earlier than the clock while that may be wrong. */
  retentionTime(): number;
  readonly log: Logger;
  /** Metrics of others in this process, which `/metrics` also shows. */
  furtherMetrics(): Promise<readonly MetricFamily[]>;
  readonly extend?: ServiceExtension;
  /** The error that made the service unusable, such as a failed store; otherwise undefined. */
  failure(): unknown;
}
