import { chmodSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe } from 'vitest';
import { slurmConfigSchema } from '../../../src/engines/slurm/slurm-config.ts';
import { createSlurmEngine } from '../../../src/engines/slurm/slurm-engine.ts';
import { type AttackSubject, describeAttacks, WITHOUT_FILTER } from '../attacks/describe-attacks.ts';
import { EngineRig } from '../engine-rig.ts';
import { hasSlurm, slurmSubject } from './slurm-rig.ts';

const isRoot = process.geteuid?.() === 0;
const user = process.env.SLUICE_TEST_SLURM_USER ?? 'nobody';
const isMissing = (!hasSlurm && process.env.CI !== 'true') || !isRoot;

/** No program of ours can filter system calls on a node, and the network is the node's: docs/slurm.md says so. */
const tolerated = {
  ...WITHOUT_FILTER,
  'network-vsock': /opened/,
  'network-path-socket': /connected/,
};

describe.skipIf(isMissing)('the node as image', () => {
  describeMode('of a service that is root', undefined, {});
  describeMode("as the account's user", user, {
    victimPrefix: ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups'],
  });
});

/** Not beneath /tmp, of which each container has its own. */
function makeStorage(): string {
  const storage = mkdtempSync('/var/tmp/sluice-storage-');
  chmodSync(storage, 0o711);
  return storage;
}

function describeMode(name: string, unixUser: string | undefined, subject: AttackSubject): void {
  describe(name, () => {
    const storage = isMissing ? '' : makeStorage();
    const config = slurmConfigSchema.parse({
      ...(unixUser !== undefined && { unixUsers: { tester: unixUser } }),
      pollInterval: '200ms',
      recordGrace: '2000ms',
    });
    const rig = new EngineRig(() => createSlurmEngine(config, { storage, maskedPaths: [storage] }), {
      ...slurmSubject({ partition: 'main' }),
      directory: storage,
      patienceMs: 120_000,
    });
    beforeAll(() => rig.open());
    afterAll(async () => {
      await rig.close();
      await rm(storage, { recursive: true, force: true });
    });
    describeAttacks(rig, { ...subject, tolerated, programIn: storage });
  });
}
