import type { KnownVolumePhase } from '@sluice/client';

/** A volume as stored. Times are in milliseconds since the epoch. */
export interface VolumeRow {
  readonly id: string;
  readonly clusterID: string;
  readonly accountID: string;
  readonly phase: KnownVolumePhase;
  readonly state: string;
  readonly createTime: number;
  /** When it was deleted; absent while it is available. */
  readonly deleteTime?: number;
  /** When it was undeleted last; absent if it was not, or was deleted again. */
  readonly undeleteTime?: number;
  /** The login of the transfer service, if one was requested. */
  readonly login?: { readonly username: string; readonly passwordHash: string };
}
