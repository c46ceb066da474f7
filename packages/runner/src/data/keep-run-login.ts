import type { VolumeService } from '@sluice/client';
import { createSystemClock, createSystemDisk } from '@sluice/home';
import { storeLogin } from './credentials.ts';

/** Stores the login of a workspace that another home has created, so that this home can execute its runs. */
export function keepRunLogin(home: string, volumeId: string, login: VolumeService): Promise<void> {
  // New runs of this home never use the volume: no pipeline has this key.
  const record = { key: `ordered/${volumeId}`, volumeID: volumeId, number: 1 };
  return storeLogin({ disk: createSystemDisk(), clock: createSystemClock(), home }, record, login);
}
