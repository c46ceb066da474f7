import type { Launch } from '../engine.ts';
import { ACTS_WITHIN_MS, type DockerApi } from './docker-api.ts';
import { claimAbsent, readRecord } from './docker-records.ts';
import { dockerName } from './docker-request.ts';
import { ignoring } from './docker-start.ts';

/** Removes a container and ends it first, where it runs; nothing where there is none. */
export async function removeDockerContainer(api: DockerApi, key: string): Promise<void> {
  const query = { force: 'true', v: 'true' };
  const path = `/containers/${dockerName(key)}`;
  await ignoring([404, 409], api.call('DELETE', path, { query, answersWithin: ACTS_WITHIN_MS }));
}

/**
 * Whether a container that seems not to have started cannot start any more, though the daemon may just be starting it. One
 * without a first process, which would see the claim, is removed.
 */
export async function preventStart(api: DockerApi, { key, directory }: Launch): Promise<boolean> {
  if ((await readRecord(directory)) !== undefined) return await claimAbsent(directory);
  await removeDockerContainer(api, key);
  return true;
}
