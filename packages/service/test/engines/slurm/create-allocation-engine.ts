import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAllocationEngine } from '../../../src/engines/allocation/allocation-engine.ts';
import type { Engine } from '../../../src/engines/engine.ts';
import { slurmConfigSchema } from '../../../src/engines/slurm/slurm-config.ts';
import { createSlurmEngine } from '../../../src/engines/slurm/slurm-engine.ts';

/** As `create-engine.ts`, with allocations for all that may run in one. */
export default function create(): Engine {
  const nodes = Number(process.env.SLUICE_TEST_ALLOCATION_NODES ?? 1);
  const allocations = { nodes, timeLimit: '30m', max: 2, idleTimeout: '20s' };
  const runtime = process.env.SLUICE_TEST_ALLOCATION_RUNTIME ?? 'none';
  const polling = { pollInterval: '200ms', recordGrace: '2000ms' };
  const config = slurmConfigSchema.parse({ runtime, withoutImage: 'node', ...polling, allocations });
  const storage = process.env.SLUICE_TEST_ALLOCATIONS ?? join(tmpdir(), `sluice-allocations-${process.pid}`);
  const jobs = createSlurmEngine(config, { storage });
  return createAllocationEngine(jobs, { ...config, allocations: config.allocations! }, { clusterID: 'here', storage });
}
