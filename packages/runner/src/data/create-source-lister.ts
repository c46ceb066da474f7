import { type ContainerService, isServiceError } from '@sluice/client';
import { fail, ok, type Result } from '@sluice/core';
import type { SourceLister } from '@sluice/home';
import { readSourceFiles } from '../trees/source-mark.ts';
import { openVolume } from './open-volume.ts';

/** Lists the files of uploaded sources of the runs of a home. The service is opened when the first list is requested. */
export function createSourceLister(
  home: string,
  openService: (runId: string) => Promise<Result<ContainerService, string>>,
): SourceLister {
  return async ({ runId, facts: { header } }, { volumeID, path }) => {
    if (header === undefined) return fail('the run has not begun');
    const service = await openService(runId);
    if (!service.ok) return service;
    const volume = { clusterId: header.clusterID, accountId: header.accountID, volumeId: volumeID };
    const files = await openVolume({ home, service: service.value, volume });
    if (!files.ok) return files;
    try {
      const list = await readSourceFiles(files.value, path);
      return list === undefined ? fail(`the source that run ${runId} has uploaded was removed`) : ok(list);
    } catch (error) {
      if (isServiceError(error)) return fail(error.message);
      throw error;
    }
  };
}
