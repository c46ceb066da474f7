import { tmpdir } from 'node:os';
import type { Engine } from '../../../src/engines/engine.ts';
import { slurmConfigSchema } from '../../../src/engines/slurm/slurm-config.ts';
import { createSlurmEngine } from '../../../src/engines/slurm/slurm-engine.ts';

/** On the cluster that `.ci/start-slurm.sh` has started, with images run by the Podman of the user that it has made. */
export default function create(): Engine {
  const unixUsers = { tester: process.env.SLUICE_TEST_SLURM_USER ?? '' };
  const config = slurmConfigSchema.parse({
    runtime: 'podman',
    unixUsers,
    pollInterval: '200ms',
    recordGrace: '2000ms',
  });
  return createSlurmEngine(config, { storage: tmpdir() });
}
