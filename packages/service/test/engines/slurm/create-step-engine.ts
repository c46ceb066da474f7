import { createAllocationEngine } from '../../../src/engines/allocation/allocation-engine.ts';
import type { Engine } from '../../../src/engines/engine.ts';
import { allocationsOfJob, slurmJobConfigSchema } from '../../../src/engines/slurm/slurm-job-config.ts';
import { createSlurmStepEngine } from '../../../src/engines/slurm/slurm-step-engine.ts';

/** As `create-engine.ts`, on the nodes of the job that `SLUICE_TEST_JOB` describes, with its files in `SLUICE_TEST_STEPS`. */
export default function create(): Engine {
  const { SLUICE_TEST_JOB = '', SLUICE_TEST_STEPS = '' } = process.env;
  const job = slurmJobConfigSchema.parse(JSON.parse(SLUICE_TEST_JOB));
  const config = { ...allocationsOfJob(job), pollInterval: '200ms', recordGrace: '2000ms' };
  const steps = createSlurmStepEngine(job, { storage: SLUICE_TEST_STEPS, config });
  return createAllocationEngine(steps, config, { clusterID: 'here', storage: SLUICE_TEST_STEPS, usesAll: true });
}
