import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { probeProcess } from '../../../src/engines/process/process-probe.ts';
import { describeEngine } from '../describe-engine.ts';
import create from './create-allocation-engine.ts';
import { hasSlurm, slurmRig, slurmSubject } from './slurm-rig.ts';

const probe = await probeProcess({});
const limits = probe.works ? probe : { memory: 'rlimit', cores: 'none' };
const storage = mkdtempSync(join(tmpdir(), 'sluice-allocations-'));
process.env.SLUICE_TEST_ALLOCATIONS = storage;

describe.skipIf(!hasSlurm && process.env.CI !== 'true')('on a real cluster', () => {
  test('a job is made of what no node can hold, which Slurm rejects', async () => {
    const rig = slurmRig({ partition: 'main' }, create);
    await rig.open();
    const container = await rig.launch({ command: ['true'], limits: { cores: 5 } });
    expect(await container.end()).toMatchObject({ kind: 'rejected', reason: expect.stringContaining('sbatch') });
    await rig.close();
  });

  describeEngine('slurm, in allocations', create, {
    ...slurmSubject({ partition: 'main' }),
    // The nodes are this machine.
    memoryLimit: limits.memory === 'rlimit' ? 'process' : 'tree',
    coreLimit: limits.cores !== 'none',
    hidesInit: true,
    pipesLog: true,
    rejectsMissingCommand: true,
    module: fileURLToPath(new URL('./create-allocation-engine.ts', import.meta.url)),
    environment: { SLUICE_TEST_ALLOCATIONS: storage },
  });
});
