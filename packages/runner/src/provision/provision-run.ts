import path from 'node:path';
import type { InstanceType } from '@sluice/client';
import { fail, ok, type Result } from '@sluice/core';
import { findMissingSources } from '../data/find-missing-sources.ts';
import { prepareVolumes, type WorkspaceFiles } from '../data/prepare-volumes.ts';
import type { VolumePlace } from '../journal/journal-record.ts';
import type { RunPlacement } from '../journal/placement.ts';
import { describeMoves } from '../placement/describe-moves.ts';
import { findMountFault } from '../placement/find-mount-fault.ts';
import { findPlacement } from '../placement/find-placement.ts';
import type { RunRefusal } from '../record/run-refusal.ts';
import type { ProvisionOptions } from '../session/provision-options.ts';
import { findTargetFault } from '../trees/target-fault.ts';
import { findMissingSecret } from './find-missing-secret.ts';
import { refuseServiceErrors } from './service-refusal.ts';

/** What a run needs before it begins. */
export interface ProvisionedRun {
  readonly instanceTypes: readonly InstanceType[];
  readonly volumes: Readonly<Record<string, VolumePlace>>;
  /** Absent: every step runs on the run's own cluster. */
  readonly placement?: RunPlacement;
  readonly workspace: WorkspaceFiles;
}

/** Checks secrets and output directories, chooses clusters, creates the volumes and uploads the sources. */
export async function provisionRun(options: ProvisionOptions): Promise<Result<ProvisionedRun, RunRefusal>> {
  const secret = findMissingSecret(options.plan, options.secrets);
  if (secret !== undefined) return fail(secret);
  const target = await findUnusableTarget(options);
  if (target !== undefined) return fail({ code: 'TARGET_REFUSED', message: target });
  const mounts = options.frozen ? undefined : findMountFault(options.plan, options.limits);
  if (mounts !== undefined) return fail({ code: 'TOO_MANY_MOUNTS', message: mounts.message });
  const [missing] = options.frozen ? [] : await findMissingSources(options.plan, options.baseDir);
  if (missing !== undefined) {
    const { message, hint } = missing;
    return fail({ code: 'SOURCE_MISSING', message: hint === undefined ? message : `${message}; ${hint}` });
  }
  return refuseServiceErrors(async () => {
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

/** Only before a run begins. If a directory becomes unusable later, the end of the run reports it. */
async function findUnusableTarget(options: ProvisionOptions): Promise<string | undefined> {
  const { plan, baseDir, home, frozen, workspaces } = options;
  if (frozen || workspaces) return undefined;
  for (const [name, { publish }] of Object.entries(plan.pipeline.outputs)) {
    if (publish === undefined) continue;
    const to = path.resolve(baseDir, publish);
    const fault = await findTargetFault(to, [baseDir, home]);
    if (fault !== undefined) return `could not use ${to} for output ${name}: ${fault}`;
  }
  return undefined;
}
