import type { StorageAccess } from '../storage/storage-access.ts';
import type { StorageSpace } from './storage-space.ts';

/** An accepted login, and where the volume's files are. */
export interface VolumeSession {
  readonly clusterID: string;
  readonly accountID: string;
  readonly volumeID: string;
  /** Absolute path of the volume's directory. All access stays beneath it. */
  readonly root: string;
  /**
   * Absolute path of a file outside the volume with the properties that WebDAV clients attach to files. It is created when
   * first needed, and removed with the volume.
   */
  readonly propertiesPath: string;
  /** Access to the volume's storage; absent for a local directory. */
  readonly storage?: StorageAccess;
  /** Counts what is stored, and limits it. Absent: no limit. */
  readonly space?: StorageSpace;
}

/** What WebDAV and SFTP need of the service: authentication, and notification when a login ends. */
export interface VolumeAccess {
  /** Undefined for an unknown login, a wrong password, or an unavailable volume: the caller cannot tell these apart. */
  authenticate(username: string, password: string): Promise<VolumeSession | undefined>;
  /** Calls `listener` when a volume's login ends (the volume is deleted), until the returned function is called. */
  onRevoked(listener: (volume: VolumeIdentity) => void): () => void;
}

/** Identifies a volume: IDs are unique only within an account. */
export type VolumeIdentity = Pick<VolumeSession, 'clusterID' | 'accountID' | 'volumeID'>;

/** A key for a volume that is unique over all clusters and accounts. */
export function volumeKey(volume: VolumeIdentity): string {
  return `${volume.clusterID}/${volume.accountID}/${volume.volumeID}`;
}
