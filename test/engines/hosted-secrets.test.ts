import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findClear } from '../../packages/service/test/engines/find-clear.ts';
import { createCaller, createHostedPlace, prepareOrder } from '../e2e/hosted-rig.ts';
import { until } from '../e2e/workplace-rig.ts';

const VALUE = 'a-very-secret-value';
/** It succeeds only with the right value, which the pipeline does not contain. */
const PIPELINE = `version: 1
name: running
secrets: [token]
steps:
  use:
    command: '[ "$token" = a-very-$(echo secret)-value ] || exit 9; while [ ! -e /out/go ]; do sleep 0.1; done'
    secrets: [token]
    outputs: { go: /out }
`;
const isThere = process.env.SLUICE_TEST_SLURM === '1';

test.skipIf(!isThere && process.env.CI !== 'true')(
  'the root of a server contains no secret of a run on Slurm in clear, also while the run is executed',
  async () => {
    const engine = { name: 'slurm', options: { partition: 'main', pollInterval: '200ms' } };
    const place = createHostedPlace('', { engine });
    const root = join(place.directory, 'data');
    const server = await place.open();
    try {
      const caller = createCaller(server);
      const run = await prepareOrder(server, PIPELINE, { secrets: { token: VALUE } });
      const { runId } = run;
      expect((await caller.order(run)).status).toBe(200);
      const stateOf = async () => (await caller.json('GET', `/runs/${runId}/states`)).body.states?.[0];
      await until(async () => (await stateOf()) === 'r', 'the step to run');
      expect(findClear(root, VALUE)).toEqual([]);
      const workspace = join(root, 'clusters/main/volumes/physics', run.workspaceId);
      writeFileSync(join(workspace, 'runs', runId, 'work/use/a1/go/go'), '');
      await until(async () => (await caller.status(runId)) === 'succeeded', 'the end of the run');
      expect(findClear(root, VALUE)).toEqual([]);
    } finally {
      await server.close();
      place.remove();
    }
  },
);
