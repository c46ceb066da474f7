import type { JobRequest } from '@sluice/client';
import { expect, test } from 'vitest';
import { allocationConfigSchema } from '../../../src/engines/allocation/allocation-config.ts';
import { suitsAllocation } from '../../../src/engines/allocation/suits-allocation.ts';
import type { SlurmConfig } from '../../../src/engines/slurm/slurm-config.ts';

const MINUTE = 60_000;

function suits(
  job: JobRequest | undefined,
  {
    config = {},
    more = {},
    runtime = 'none',
    isOneJob = false,
    withoutImage = 'reject',
  }: {
    config?: object;
    more?: { image?: string; command?: string[] };
    runtime?: SlurmConfig['runtime'];
    isOneJob?: boolean;
    withoutImage?: SlurmConfig['withoutImage'];
  } = {},
): boolean {
  const launch = {
    command: ['true'],
    mounts: [],
    ...more,
    ...(job !== undefined && { job }),
  };
  const allocations = allocationConfigSchema.parse({ timeLimit: '60m', ...config });
  return suitsAllocation(launch, { runtime, withoutImage, allocations, isOneJob });
}

const timeout = (minutes: number): JobRequest => ({ time: { ms: minutes * MINUTE, required: false } });
const short = { config: { when: { shorterThan: '10m' } } };

test.each<[string, boolean, JobRequest | undefined, Parameters<typeof suits>[1]]>([
  ['of which nothing is known', true, undefined, short],
  ['with a name only', true, { name: 'a/b' }, short],
  ['with a short time limit', true, timeout(10), short],
  ['with a long time limit', false, timeout(11), short],
  ['with a long time limit that took less in earlier runs', true, { ...timeout(40), duration: MINUTE }, short],
  ['that took long in earlier runs', false, { duration: 11 * MINUTE }, short],
  ['that took long, where nothing limits it', true, { duration: 48 * MINUTE }, {}],
  ['that needs more time than an allocation has', false, { duration: 49 * MINUTE }, {}],
  ['that may need more time than an allocation has', false, { ...timeout(49), duration: MINUTE }, {}],
  ['with options of Slurm', false, { slurm: { constraint: 'a100' } }, {}],
  ['with options of Slurm, where all share one job', true, { slurm: { constraint: 'a100' } }, { isOneJob: true }],
  ['with an image', false, undefined, { more: { image: 'debian:12' } }],
  ['with an image for Charliecloud', true, undefined, { runtime: 'charliecloud', more: { image: '/images/a' } }],
  ['without an image for Charliecloud', false, undefined, { runtime: 'charliecloud' }],
  ['beside images for Charliecloud', true, undefined, { runtime: 'charliecloud', withoutImage: 'node' }],
  ['beside images for Podman', true, undefined, { runtime: 'podman', withoutImage: 'node' }],
  ['with an image for Podman', false, undefined, { runtime: 'podman', more: { image: 'debian:12' } }],
  ['with an image for Apptainer', false, undefined, { runtime: 'apptainer', more: { image: 'debian:12' } }],
  ['without a command', false, undefined, { more: { command: [] } }],
])('suitsAllocation: a container %s: %s', (_, expected, job, how) => {
  expect(suits(job, how)).toBe(expected);
});
