import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe } from 'vitest';
import { describeEngine } from '../describe-engine.ts';
import { describeRun } from '../describe-run.ts';
import create, { createWithoutFirstProcess } from './create-engine.ts';
import { BARE, dockerRig, dockerSubject, hasDocker } from './docker-rig.ts';

describe.skipIf(!hasDocker && process.env.CI !== 'true')('on a real daemon', () => {
  const module = fileURLToPath(new URL('./create-engine.ts', import.meta.url));
  describeEngine('docker', create, { ...dockerSubject(), module });

  describe('without a first process of ours', () => {
    const rig = dockerRig(createWithoutFirstProcess);
    beforeAll(() => rig.open());
    afterAll(() => rig.close());
    describeRun(rig, { ...dockerSubject(), ...BARE });
  });
});
