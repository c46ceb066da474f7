import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** Where a cluster's storage root keeps what. */
export const storagePaths = {
  containers: (storage: string) => join(storage, 'containers'),
  container: (storage: string, launchKey: string) => join(storage, 'containers', launchKey),
  log: (storage: string, launchKey: string) => join(storage, 'containers', launchKey, 'log'),
  /** A directory for each account, with one for each of its volumes. */
  volumes: (storage: string) => join(storage, 'volumes'),
  volume: (storage: string, accountID: string, volumeID: string) => join(storage, 'volumes', accountID, volumeID),
  /** Properties that WebDAV clients attach to a volume's files. */
  properties: (storage: string, accountID: string, volumeID: string) =>
    join(storage, 'properties', accountID, volumeID),
  trash: (storage: string) => join(storage, 'trash'),
};

/** Makes the directories of a storage root where they are not. */
export function makeStorage(storage: string): void {
  for (const directory of ['containers', 'volumes', 'properties', 'trash']) {
    mkdirSync(join(storage, directory), { recursive: true, mode: 0o700 });
  }
}
