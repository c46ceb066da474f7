import type { KnownVolumePhase } from '@sluice/client';

/** A volume as the store keeps it. Times are milliseconds since the epoch. */
export interface VolumeRow {
  readonly id: string;
  readonly clusterID: string;
  readonly accountID: string;
  readonly phase: KnownVolumePhase;
  readonly state: string;
  readonly createTime: number;
  /** When it was deleted, while that can be undone. */
  readonly deleteTime?: number;
  /** Login of the transfer service, where one was asked for. */
  readonly login?: { readonly username: string; readonly passwordHash: string };
}
