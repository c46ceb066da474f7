import { fileURLToPath } from 'node:url';
import { describe } from 'vitest';
import { describeEngine } from '../describe-engine.ts';
import create from './create-podman-engine.ts';
import { dockerSubject } from './docker-rig.ts';

describe.skipIf(process.env.SLUICE_TEST_PODMAN_SOCKET === undefined && process.env.CI !== 'true')(
  'on the socket of Podman',
  () => {
    const module = fileURLToPath(new URL('./create-podman-engine.ts', import.meta.url));
    describeEngine('docker, with Podman behind', create, { ...dockerSubject(), module });
  },
);
