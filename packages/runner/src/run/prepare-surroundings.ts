import { type InstanceType, isServiceError } from '@sluice/client';
import { fail, ok, type Result } from '@sluice/core';
import { prepareVolumes, type WorkspaceFiles } from '../data/prepare-volumes.ts';
import type { VolumePlace } from '../journal/journal-record.ts';
import { findPlacement } from '../placement/find-placement.ts';
import type { RunPlacement } from '../placement/placement.ts';
import { secretNames } from './create-redactor.ts';
import type { RunRefusal } from './run-options.ts';
import type { SurroundingsOptions } from './surroundings-options.ts';

/** Everything a run needs to be there before it begins. */
export interface Surroundings {
  readonly instanceTypes: readonly InstanceType[];
  readonly volumes: Readonly<Record<string, VolumePlace>>;
  /** Absent: every step goes to the run's own cluster. */
  readonly placement?: RunPlacement;
  readonly workspace: WorkspaceFiles;
}

/** Checks secrets, asks for instance types, makes the volumes and uploads the sources. */
export async function prepareSurroundings(options: SurroundingsOptions): Promise<Result<Surroundings, RunRefusal>> {
  const secret = missingSecret(options);
  if (secret !== undefined) {
    return fail({ code: 'SECRET_MISSING', message: `the pipeline needs the secret ${secret}, which is not given` });
  }
  try {
    const placed = await findPlacement(options);
    if (!placed.ok) return placed;
    const volumes = await prepareVolumes({ ...options, ...placed.value });
    if (!volumes.ok) return volumes;
    return ok({ ...placed.value, ...volumes.value });
  } catch (error) {
    if (!isServiceError(error)) throw error;
    const isSilent = ['UNREACHABLE', 'NO_REPLY', 'UNAVAILABLE', 'INVALID_REPLY'].includes(error.code);
    return fail({ code: isSilent ? 'SERVICE_UNREACHABLE' : 'SERVICE_REFUSED', message: error.message });
  }
}

function missingSecret({ plan, secrets }: SurroundingsOptions): string | undefined {
  return [...secretNames(plan)].find((name) => secrets?.(name) === undefined);
}
