import { type InstanceType, isServiceError, type Scope, type VolumeFiles } from '@sluice/client';
import { fail, ok, type Plan, type Result } from '@sluice/core';
import type { Clock } from '../clock.ts';
import { chooseInstanceType } from '../data/choose-instance-type.ts';
import { prepareVolumes } from '../data/prepare-volumes.ts';
import type { Disk } from '../journal/disk.ts';
import type { VolumePlace } from '../journal/journal-record.ts';
import type { RunnerOptions, RunRefusal } from './run-options.ts';

/** Everything a run needs to be there before it begins. */
export interface Surroundings {
  readonly instanceTypes: readonly InstanceType[];
  readonly volumes: Readonly<Record<string, VolumePlace>>;
  readonly workspace: () => VolumeFiles;
}

export interface SurroundingsOptions extends RunnerOptions {
  readonly plan: Plan;
  readonly scope: Scope;
  readonly baseDir: string;
  readonly clock: Clock;
  readonly disk: Disk;
  /** The volumes that an earlier runner of the same run has chosen: they are not chosen again. */
  readonly frozen?: Readonly<Record<string, VolumePlace>>;
}

/** Checks secrets, asks for instance types, makes the volumes and uploads the sources. */
export async function prepareSurroundings(options: SurroundingsOptions): Promise<Result<Surroundings, RunRefusal>> {
  const secret = missingSecret(options);
  if (secret !== undefined) {
    return fail({ code: 'SECRET_MISSING', message: `the pipeline needs the secret ${secret}, which is not given` });
  }
  try {
    const instanceTypes = await findInstanceTypes(options);
    if (!instanceTypes.ok) return instanceTypes;
    const volumes = await prepareVolumes(options);
    if (!volumes.ok) return volumes;
    return ok({ instanceTypes: instanceTypes.value, ...volumes.value });
  } catch (error) {
    if (!isServiceError(error)) throw error;
    const isSilent = ['UNREACHABLE', 'NO_REPLY', 'UNAVAILABLE', 'INVALID_REPLY'].includes(error.code);
    return fail({ code: isSilent ? 'SERVICE_UNREACHABLE' : 'SERVICE_REFUSED', message: error.message });
  }
}

function missingSecret({ plan, secrets }: SurroundingsOptions): string | undefined {
  const needed = new Set(plan.steps.flatMap(({ step }) => step.secrets));
  return [...needed].find((name) => secrets?.(name) === undefined);
}

/** Instance types are asked for only where a step leaves the choice to us. */
async function findInstanceTypes(options: SurroundingsOptions): Promise<Result<InstanceType[], RunRefusal>> {
  const { plan, scope, service } = options;
  const choosing = plan.steps.filter(({ step }) => !step.approval && step.instanceType === undefined);
  const escalates = plan.steps.some(({ step }) => step.retry.escalate.some((rung) => typeof rung !== 'string'));
  if (choosing.length === 0 && !escalates) return ok([]);
  const types = (await service.discovery.listInstanceTypes(scope.clusterID)).filter(
    (type) => type.clusterID === scope.clusterID,
  );
  for (const { step } of choosing) {
    if (chooseInstanceType(types, step.resources)) continue;
    const wanted = step.resources ? JSON.stringify(step.resources) : 'anything';
    const message = `step ${step.name}: no instance type of cluster ${scope.clusterID} offers ${wanted}`;
    return fail({ code: 'NO_INSTANCE_TYPE', message });
  }
  return ok(types);
}
