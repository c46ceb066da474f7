import type { EngineFactory } from './engine-factory.ts';
import { createLocalEngine } from './local-engine.ts';
import { createProcessEngine } from './process/process-engine.ts';

/** The engines, by their name in the configuration. The code of engines that need other programs is loaded on first use. */
export const ENGINE_FACTORIES: Readonly<Record<string, EngineFactory>> = {
  local: (site) => createLocalEngine(site),
  process: (site) => createProcessEngine({}, site),
  async docker({ options, ...site }) {
    const [{ createDockerEngine }, { dockerConfigSchema }] = await Promise.all([
      import('./docker/docker-engine.ts'),
      import('./docker/docker-config.ts'),
    ]);
    return createDockerEngine(dockerConfigSchema.parse(options), site);
  },
  async slurm({ options, ...site }) {
    const [{ createSlurmEngine }, { slurmConfigSchema }] = await Promise.all([
      import('./slurm/slurm-engine.ts'),
      import('./slurm/slurm-config.ts'),
    ]);
    const config = slurmConfigSchema.parse(options);
    const jobs = createSlurmEngine(config, { ...site, maskedPaths: [site.storage, ...site.maskedPaths] });
    const { allocations } = config;
    if (allocations === undefined) return jobs;
    const { createAllocationEngine } = await import('./allocation/allocation-engine.ts');
    return createAllocationEngine(jobs, { ...config, allocations }, site);
  },
  async 'slurm-job'({ options, ...site }) {
    const [{ createSlurmStepEngine }, { allocationsOfJob, slurmJobConfigSchema }, { createAllocationEngine }] =
      await Promise.all([
        import('./slurm/slurm-step-engine.ts'),
        import('./slurm/slurm-job-config.ts'),
        import('./allocation/allocation-engine.ts'),
      ]);
    const job = slurmJobConfigSchema.parse(options);
    const config = allocationsOfJob(job);
    const steps = createSlurmStepEngine(job, { ...site, maskedPaths: [site.storage, ...site.maskedPaths], config });
    return createAllocationEngine(steps, config, { ...site, endsAt: job.endsAt, usesAll: true });
  },
};
