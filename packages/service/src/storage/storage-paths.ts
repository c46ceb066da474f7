import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** The layout of a cluster's storage root. */
export const storagePaths = {
  containers: (storage: string) => join(storage, 'containers'),
  container: (storage: string, launchKey: string) => join(storage, 'containers', launchKey),
  log: (storage: string, launchKey: string) => join(storage, 'containers', launchKey, 'log'),
  /** Contains a directory per account, which contains one per volume. */
  volumes: (storage: string) => join(storage, 'volumes'),
  volume: (storage: string, accountID: string, volumeID: string) => join(storage, 'volumes', accountID, volumeID),
  /** Properties that WebDAV clients attach to a volume's files. */
  properties: (storage: string, accountID: string, volumeID: string) =>
    join(storage, 'properties', accountID, volumeID),
  trash: (storage: string) => join(storage, 'trash'),
};

/** Creates the missing directories of a storage root. */
export function makeStorage(storage: string): void {
  for (const directory of ['containers', 'volumes', 'properties', 'trash']) {
    mkdirSync(join(storage, directory), { recursive: true, mode: 0o700 });
  }
}
