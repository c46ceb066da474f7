import type { Launch } from '../engine.ts';
import { ACTS_WITHIN_MS, type DockerApi } from './docker-api.ts';
import { claimAbsent, readRecord } from './docker-records.ts';
import { dockerName } from './docker-request.ts';
import { ignoring } from './docker-start.ts';

/** Removes a container, killing it if it runs. Succeeds if it does not exist. */
export async function removeDockerContainer(api: DockerApi, key: string): Promise<void> {
  const query = { force: 'true', v: 'true' };
  const path = `/containers/${dockerName(key)}`;
  await ignoring([404, 409], api.call('DELETE', path, { query, answersWithin: ACTS_WITHIN_MS }));
}

/**
 * Prevents the start of a container that seems not to have started, even if the daemon is starting it right now; false if it
 * has started. A container without a first process does not check the claim, so it is removed.
 */
export async function preventStart(api: DockerApi, { key, directory }: Launch): Promise<boolean> {
  if ((await readRecord(directory)) !== undefined) return await claimAbsent(directory);
  await removeDockerContainer(api, key);
  return true;
}
