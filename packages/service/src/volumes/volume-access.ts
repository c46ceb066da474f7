/** A login of a volume's transfer service that was accepted, and where its files are. */
export interface VolumeSession {
  readonly clusterID: string;
  readonly accountID: string;
  readonly volumeID: string;
  /** Absolute path of the directory that is the volume, and beneath which everything stays. */
  readonly root: string;
  /**
   * Absolute path of a file outside the volume that keeps the properties which WebDAV clients attach to files; made
   * when first needed, to be removed with the volume.
   */
  readonly propertiesPath: string;
  /** Why nothing may be added, if so, where `bytes` more are to be stored; they count from then on. Absent: no limit. */
  readonly admit?: (bytes: number) => string | undefined;
}

/** What WebDAV and SFTP need of the service: who may in, and when to throw somebody out. */
export interface VolumeAccess {
  /** Undefined for an unknown login, a wrong password, and a volume that is not available: one answer for all. */
  authenticate(username: string, password: string): Promise<VolumeSession | undefined>;
  /** Calls `listener` when a volume's login ends (the volume is deleted), until the returned function is called. */
  onRevoked(listener: (volume: VolumeIdentity) => void): () => void;
}

/** What tells volumes apart: each account has IDs of its own. */
export type VolumeIdentity = Pick<VolumeSession, 'clusterID' | 'accountID' | 'volumeID'>;

/** One name for a volume over all clusters and accounts. */
export function volumeKey(volume: VolumeIdentity): string {
  return `${volume.clusterID}/${volume.accountID}/${volume.volumeID}`;
}
