import { afterEach, beforeEach, test } from 'vitest';
import { expectSmallRunToPass } from '../e2e/two-runs-rig.ts';
import { createWorkplace, type Workplace } from '../e2e/workplace-rig.ts';

interface EngineSetting {
  readonly name: string;
  readonly engine: string;
  /** Only an absence in CI fails. */
  readonly isThere: boolean;
  readonly options: Readonly<Record<string, unknown>>;
  readonly image?: string;
}

const {
  SLUICE_TEST_DOCKER_SOCKET: docker,
  SLUICE_TEST_PODMAN_SOCKET: podman,
  SLUICE_TEST_DOCKER_IMAGE: image = '',
  SLUICE_TEST_SLURM: slurm,
} = process.env;

const settings: readonly EngineSetting[] = [
  { name: 'Docker', engine: 'docker', isThere: docker !== undefined, options: { socketPath: docker }, image },
  { name: 'Podman', engine: 'docker', isThere: podman !== undefined, options: { socketPath: podman }, image },
  { name: 'Slurm', engine: 'slurm', isThere: slurm === '1', options: { partition: 'main', pollInterval: '200ms' } },
];

let place: Workplace;

beforeEach(() => {
  place = createWorkplace();
});

afterEach(() => place.remove());

for (const { name, engine, isThere, options, image } of settings) {
  test.skipIf(!isThere && process.env.CI !== 'true')(
    `a second run of an account does not wait behind the queued cells of the first on ${name}`,
    async () => {
      // Without a capacity, Slurm would choose the order.
      const clusters = `
  - id: main
    engine: ${engine}
    options: ${JSON.stringify(options)}
    capacity: { cpu: 4, memory: 4GB }
    accounts: [physics]
    instanceTypes: [{ id: small, cpu: 1, memory: 1GB }]`;
      await expectSmallRunToPass(place, { clusters, cells: 200, ...(image !== undefined && { image }) });
    },
  );
}
