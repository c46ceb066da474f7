import type { Logger } from 'pino';
import type { ServiceCalls } from '../calls/service-calls.ts';
import type { Cluster } from '../clusters/cluster.ts';
import type { ServiceConfig } from '../config/service-config.ts';
import type { Clock } from '../host/clock.ts';
import type { Store } from '../store/store.ts';
import type { TransferThrottle } from '../volumes/transfer-throttle.ts';
import type { VolumeAccess } from '../volumes/volume-access.ts';

/** What the listeners need of the service that they serve. */
export interface ServedService {
  readonly config: ServiceConfig;
  readonly store: Store;
  readonly clusters: ReadonlyMap<string, Cluster>;
  readonly calls: ServiceCalls;
  /** Who may open a volume's files over WebDAV and SFTP. */
  readonly volumeAccess: VolumeAccess;
  /** One for WebDAV and SFTP, so that guessing is slowed down over both. */
  readonly transferThrottle: TransferThrottle;
  /** Where SFTP is, where it is served. */
  readonly sftpAddress: () => { sftp?: string };
  readonly clock: Clock;
  readonly log: Logger;
  /** Why the service can no longer be used, if so: its store failed. */
  failure(): unknown;
}
