import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe } from 'vitest';
import { probeProcess } from '../../../src/engines/process/process-probe.ts';
import { describeEngine } from '../describe-engine.ts';
import create from './create-allocation-engine.ts';
import { hasSlurm, slurmSubject } from './slurm-rig.ts';

const probe = await probeProcess({});
const limits = probe.works ? probe : { memory: 'rlimit', cores: 'none' };
const storage = mkdtempSync(join(tmpdir(), 'sluice-allocations-'));
process.env.SLUICE_TEST_ALLOCATIONS = storage;

describe.skipIf(!hasSlurm && process.env.CI !== 'true')('on a real cluster', () => {
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
