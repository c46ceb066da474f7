import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorkplace, type Workplace } from './workplace-rig.ts';

let place: Workplace;
beforeEach(() => {
  place = createWorkplace();
});
afterEach(() => place.remove());

/** The third task fails in the first attempt. */
function write(nodes: number): void {
  const pipeline = `
version: 1
name: training
steps:
  train:
    nodes: ${nodes}
    tasksPerNode: 2
    resources: { cpu: 1, memory: 1GB }
    cache: true
    retry: { limit: 1, backoff: { initial: 1ms } }
    outputs: [model]
    script: |
      echo "rank $RANK of $WORLD_SIZE on node $SLUICE_NODE_RANK of $SLUICE_NODES"
      if [ "$SLUICE_ATTEMPT" = 1 ] && [ "$RANK" = 2 ]; then exit 5; fi
      if [ "$SLUICE_ATTEMPT.$SLUICE_NODES" = 1.2 ]; then sleep 60; fi
      echo "$RANK" >"/out/model/$RANK"
  use: { inputs: { model: train.model }, command: 'cat /in/model/*' }
`;
  writeFileSync(join(place.directory, 'p.yaml'), pipeline);
}

const run = (...args: string[]) => place.sluice('run', 'p.yaml', '--cpu', '8', ...args);
const linesOf = async (...args: string[]) => (await place.sluice('logs', ...args)).stdout.split('\n').filter(Boolean);

test('a step on several nodes is started, retried and reused as one', async () => {
  write(2);
  expect(await run()).toMatchObject({ exitCode: 0 });
  const ranks = [0, 1, 2, 3].map((rank) => `${rank}: rank ${rank} of 4 on node ${rank >> 1} of 2`);
  expect((await linesOf('train')).sort()).toEqual(ranks);
  expect(await linesOf('train', '--rank', '3')).toEqual(['rank 3 of 4 on node 1 of 2']);
  expect(await linesOf('train', '--rank', '3', '--tail', '1')).toEqual(['rank 3 of 4 on node 1 of 2']);
  const followed = await place.sluice('logs', 'train', '--rank', '3', '--tail', '1', '--follow');
  expect(followed).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('either --tail or --follow') });
  expect((await place.sluice('plan', 'p.yaml')).stdout).toMatch(/local-1 × 2 nodes × 2/);
  const { steps } = JSON.parse((await place.sluice('plan', 'p.yaml', '--json')).stdout);
  expect(steps[0]).toMatchObject({ step: 'train', tasks: { nodes: 2, perNode: 2 } });
  expect(await linesOf('use')).toEqual(['0', '1', '2', '3']);
  const why = await place.sluice('why', 'train');
  expect(why.stdout).toMatch(/1 {2}exit code 5/);
  expect((await run()).stdout).toContain('1 reused from earlier runs');
  write(1);
  expect((await run()).stdout).toContain('2 succeeded');
  expect((await place.sluice('why', 'train')).stdout).toContain('tasks is 1 x 2; it was 2 x 2');
});

test('a step whose tasks do not fit on the machine fails, and says so', async () => {
  write(5);
  const { exitCode, stdout } = await run('--json');
  expect(exitCode).not.toBe(0);
  expect(stdout).toContain('its 10 tasks need 10 cores and cluster local has 8 in total');
});
