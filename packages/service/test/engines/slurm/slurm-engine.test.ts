import { fileURLToPath } from 'node:url';
import { describe } from 'vitest';
import { describeEngine } from '../describe-engine.ts';
import create from './create-engine.ts';
import { hasSlurm, slurmSubject } from './slurm-rig.ts';

describe.skipIf(!hasSlurm && process.env.CI !== 'true')('on a real cluster', () => {
  describeEngine('slurm', create, {
    ...slurmSubject({ partition: 'main' }),
    module: fileURLToPath(new URL('./create-engine.ts', import.meta.url)),
  });
});
