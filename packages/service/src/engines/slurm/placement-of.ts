import type { JobRequest } from '@sluice/client';
import { EngineError, type JobSource } from '../engine.ts';
import { gresOfStep, gresOfType } from './gres-of.ts';
import { type SlurmConfig, type SlurmPlacement, slurmPlacementSchema } from './slurm-config.ts';

/**
 * The options of a job: those of the cluster, replaced by those of its instance type, replaced by those of the step; `gres`
 * has the GPUs, too. Throws `EngineError` `REJECTED` for an option of the step that the configuration does not allow.
 */
export function placementOf(
  config: SlurmConfig,
  { options, gpus, job }: JobSource & { readonly job?: JobRequest | undefined },
): SlurmPlacement {
  const configured: SlurmPlacement = { ...config, ...defined(slurmPlacementSchema.parse(options)) };
  const requested = job?.slurm ?? {};
  const allowed: readonly string[] = configured.allow ?? [];
  const denied = Object.keys(requested).filter((name) => !allowed.includes(name));
  if (denied.length > 0) {
    const names = denied.map((name) => `'slurm.${name}'`).join(', ');
    const list = allowed.length === 0 ? 'none of these options' : `only ${allowed.join(', ')}`;
    throw new EngineError(
      'REJECTED',
      `could not use ${names} of the step: the cluster allows ${list}; the administrator of the service can add it to 'allow' in the options of the cluster or of the instance type`,
    );
  }
  const gres = requested.gres === undefined ? gresOfType(configured.gres, gpus) : gresOfStep(requested.gres, gpus);
  return { ...configured, ...requested, gres };
}

function defined<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as Partial<T>;
}
