import type { VolumeService } from '@sluice/client';
import { createSystemClock, createSystemDisk, readJournal, runDirectory } from '@sluice/home';
import { findLogin, storeLogin } from '../data/credentials.ts';

/** The logins of a run's workspace volumes by ID, for another home that executes the run. Omits those that this home lacks. */
export async function readRunLogins(home: string, runId: string): Promise<Record<string, VolumeService>> {
  const place = { disk: createSystemDisk(), clock: createSystemClock(), home };
  const journal = await readJournal(place.disk, runDirectory(home, runId));
  const logins: Record<string, VolumeService> = {};
  for (const record of journal.ok ? journal.value.records : []) {
    if (record.kind !== 'volumes') continue;
    for (const { volumeID } of Object.values(record.volumes)) {
      const login = await findLogin(place, volumeID);
      if (login) logins[volumeID] = login;
    }
  }
  return logins;
}

/** Stores the login of a volume that another home has created, so that this home can continue its runs. */
export function keepRunLogin(home: string, volumeID: string, login: VolumeService): Promise<void> {
  // New runs of this home never use the volume: no pipeline has this key.
  const record = { key: `handed-over/${volumeID}`, volumeID, number: 1 };
  return storeLogin({ disk: createSystemDisk(), clock: createSystemClock(), home }, record, login);
}
