import { afterEach, beforeEach, test } from 'vitest';
import { expectSmallRunToPass } from './two-runs-rig.ts';
import { createWorkplace, type Workplace } from './workplace-rig.ts';

let place: Workplace;

beforeEach(() => {
  place = createWorkplace();
});

afterEach(() => place.remove());

const cluster = (capacity: string) => `
  - id: main
    engine: process
    capacity: { cpu: ${capacity}, memory: 4GB }
    accounts: [physics]
    instanceTypes: [{ id: small, cpu: 1, memory: 1GB }]`;

test.each(['1', '2'])(
  'a second run of an account does not wait behind the queued cells of the first, with %s cores',
  (cores) => expectSmallRunToPass(place, { clusters: cluster(cores), cells: 250 }),
);
