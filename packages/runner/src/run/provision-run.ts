import type { InstanceType } from '@sluice/client';
import { fail, ok, type Result } from '@sluice/core';
import type { RunError, RunPlacement, VolumePlace } from '@sluice/run';
import { prepareVolumes, type WorkspaceFiles } from '../data/prepare-volumes.ts';
import { describeMoves } from '../placement/describe-moves.ts';
import { findPlacement } from '../placement/find-placement.ts';
import type { ProvisionOptions } from '../session/provision-options.ts';
import { findLocalFaults } from './find-local-faults.ts';
import { rejectServiceErrors } from './service-rejection.ts';

/** What a run needs before it begins. */
export interface ProvisionedRun {
  readonly instanceTypes: readonly InstanceType[];
  readonly volumes: Readonly<Record<string, VolumePlace>>;
  /** Absent: every step runs on the run's own cluster. */
  readonly placement?: RunPlacement;
  readonly workspace: WorkspaceFiles;
}

/** Checks secrets and output directories, chooses clusters, creates the volumes and uploads the sources. */
export async function provisionRun(options: ProvisionOptions): Promise<Result<ProvisionedRun, RunError>> {
  const [fault] = await findLocalFaults(options);
  if (fault !== undefined) {
    const { code, message, hint } = fault;
    return fail({ code, message: hint === undefined ? message : `${message}; ${hint}` });
  }
  return rejectServiceErrors(async () => {
    const placed = await findPlacement(options);
    if (!placed.ok) return placed;
    if (options.placement === undefined) {
      for (const message of describeMoves(options.plan, placed.value.placement, options.scope.clusterID))
        options.report({ type: 'warning', at: options.clock.now(), message });
    }
    const volumes = await prepareVolumes({ ...options, ...placed.value });
    if (!volumes.ok) return volumes;
    return ok({ ...placed.value, ...volumes.value });
  });
}
