import { describe, expect, test } from 'vitest';
import { createHandPlan } from '../../../run/test/plans.ts';
import { cells, make, run } from '../data/change-rig.ts';
import { createRig } from '../simulation/rig.ts';

/** The requests of all containers of a run on a service with these features. */
async function requests(features: readonly string[]) {
  const rig = createRig('jobs', { features });
  const report = await run(rig, createHandPlan([{ ...make, matrix: cells }]));
  const labels = rig.created().map(({ wire }) => wire.labels?.['sluice-job']);
  labels.sort();
  return { runId: report.runId, jobs: labels.map((label) => label && JSON.parse(label)) };
}

describe('describeJob', () => {
  test('names pipeline, step and cell, and the run in a comment', async () => {
    const { runId, jobs } = await requests(['job-names']);
    expect(jobs).toEqual(
      ['n-1', 'n-2', 'n-3'].map((key) => ({
        name: `hand/make/${key}`,
        comment: `run=${runId} attempt=1 cell=make/${key}`,
      })),
    );
  });

  test('asks for nothing where the service announces nothing of it', async () => {
    const { jobs } = await requests(['read-only-mounts']);
    expect(jobs).toEqual([undefined, undefined, undefined]);
  });
});
