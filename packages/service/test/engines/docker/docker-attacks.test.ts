import { afterAll, beforeAll, describe } from 'vitest';
import { describeAttacks } from '../attacks/describe-attacks.ts';
import { EngineRig } from '../engine-rig.ts';
import createDocker from './create-engine.ts';
import createPodman from './create-podman-engine.ts';
import { dockerSubject, hasDocker } from './docker-rig.ts';

/**
 * The container's first process has no more rights than the command, and its root file system is its own. The network is
 * the host's, and which system calls are rejected is up to the daemon: docs/docker.md says so.
 */
const tolerated = {
  'file-new': /^made \/\/sluice-attack-/,
  'process-first-memory': /opened/,
  'process-first-root': /opened/,
  'process-first-directory': /opened/,
  'process-first-files': /opened/,
  'process-first-environment': /opened/,
  'process-first-ptrace': /traced/,
  'process-first-read': /read/,
  'process-first-descriptor': /took/,
  'process-new-privileges': /setuid/,
  'kernel-io-uring': /made/,
  'network-vsock': /opened/,
};

describe.skipIf(!hasDocker && process.env.CI !== 'true')('Docker', () => {
  const rig = new EngineRig(createDocker, dockerSubject());
  beforeAll(() => rig.open());
  afterAll(() => rig.close());
  describeAttacks(rig, { tolerated });
});

const hasPodman = process.env.SLUICE_TEST_PODMAN_SOCKET !== undefined;
describe.skipIf(!hasPodman && process.env.CI !== 'true')('Podman', () => {
  const rig = new EngineRig(createPodman, dockerSubject());
  beforeAll(() => rig.open());
  afterAll(() => rig.close());
  describeAttacks(rig, { tolerated });
});
