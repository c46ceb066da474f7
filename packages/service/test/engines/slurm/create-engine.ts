import { tmpdir } from 'node:os';
import type { Engine } from '../../../src/engines/engine.ts';
import { slurmConfigSchema } from '../../../src/engines/slurm/slurm-config.ts';
import { createSlurmEngine } from '../../../src/engines/slurm/slurm-engine.ts';

/** On the cluster that `.ci/start-slurm.sh` has started. */
export default function create(): Engine {
  return createSlurmEngine(slurmConfigSchema.parse({ pollInterval: '200ms', recordGrace: '2000ms' }), {
    storage: tmpdir(),
  });
}
