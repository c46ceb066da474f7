import type { ContainerService, VolumeFiles } from '@sluice/client';
import { fail, ok, type Result } from '@sluice/core';
import { createSystemClock, createSystemDisk, type Disk } from '@sluice/home';
import { findLogin } from './credentials.ts';

/** A volume of a run, and the service that has it. */
export interface OpenVolumeOptions {
  readonly home: string;
  readonly service: ContainerService;
  readonly volume: { readonly clusterId: string; readonly accountId: string; readonly volumeId: string };
  readonly disk?: Disk;
}

/** The files of a volume with the login that the home has; the error says that it has none. */
export async function openVolume(options: OpenVolumeOptions): Promise<Result<VolumeFiles, string>> {
  const { home, service, volume, disk = createSystemDisk() } = options;
  const { clusterId, accountId, volumeId } = volume;
  const login = await findLogin({ disk, home, clock: createSystemClock() }, volumeId);
  if (login === undefined) return fail(`this home has no login to volume ${volumeId}`);
  return ok(service.volumes.files({ clusterID: clusterId, accountID: accountId, id: volumeId }, login));
}
