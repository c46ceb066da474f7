import type { JobRequest } from '@sluice/client';
import { checkAllowed, defined } from '../check-allowed.ts';
import type { JobSource } from '../engine.ts';
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
  checkAllowed('slurm', Object.keys(requested), configured.allow ?? []);
  const ofNode = gpus * (job?.tasks?.perNode ?? 1);
  const gres = requested.gres === undefined ? gresOfType(configured.gres, ofNode) : gresOfStep(requested.gres, ofNode);
  return { ...configured, ...requested, gres };
}
