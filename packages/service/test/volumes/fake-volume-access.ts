import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { VolumeAccess, VolumeIdentity, VolumeSession } from '../../src/volumes/volume-access.ts';

/** Volumes with logins of the form `<volume>` and `secret-<volume>`, all beneath one directory. */
export class FakeVolumeAccess implements VolumeAccess {
  readonly #directory: string;
  readonly #sessions = new Map<string, VolumeSession>();
  readonly #listeners = new Set<(volume: VolumeIdentity) => void>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  add(volumeID: string): VolumeSession {
    const root = join(this.#directory, volumeID, 'files');
    mkdirSync(root, { recursive: true });
    const propertiesPath = join(this.#directory, volumeID, 'properties.json');
    const session = { clusterID: 'local', accountID: 'alice', volumeID, root, propertiesPath };
    this.#sessions.set(volumeID, session);
    return session;
  }

  async authenticate(username: string, password: string): Promise<VolumeSession | undefined> {
    return password === `secret-${username}` ? this.#sessions.get(username) : undefined;
  }

  onRevoked(listener: (volume: VolumeIdentity) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  revoke(volumeID: string): void {
    this.#sessions.delete(volumeID);
    for (const listener of this.#listeners) listener({ clusterID: 'local', accountID: 'alice', volumeID });
  }
}
