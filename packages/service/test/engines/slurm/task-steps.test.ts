import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Launch, Observation } from '../../../src/engines/engine.ts';
import { createSlurmCommands } from '../../../src/engines/slurm/slurm-commands.ts';
import { TaskSteps } from '../../../src/engines/slurm/task-steps.ts';
import { LOCAL_STORAGE } from '../../../src/storage/storage-access.ts';

const GB = 2 ** 30;
let directory: string;
let seen: { readonly key: string; readonly observation: Observation }[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-tasks-'));
  seen = [];
});
afterEach(() => rmSync(directory, { recursive: true }));

/** In a job with three nodes, all of which have an agent, so that nothing starts. */
function open({ endsAt }: { endsAt?: number } = {}): TaskSteps {
  const names = ['n1', 'n2', 'n3'];
  const nodes = names.map((name) => ({ name, cores: 4, memoryMB: 4096, gpus: 0 }));
  return new TaskSteps({
    ...{
      job: { id: '7', runtime: 'none', nodes, ...(endsAt !== undefined && { endsAt }) },
      slurm: createSlurmCommands(undefined),
    },
    ...{ storage: LOCAL_STORAGE, addressOf: async () => undefined, recordGraceMs: 0, findMaskedPaths: async () => [] },
    report: (key, observation) => void seen.push({ key, observation }),
    agentNodes: () => new Set(names),
  });
}

function launchOf(key: string, nodes: number, more: Partial<Launch> = {}): Launch {
  return {
    ...{ key, containerID: key, clusterID: 'c', accountID: 'a', env: {}, ports: {}, options: {}, mounts: [] },
    ...{ command: ['true'], limits: { cores: 2 * nodes, memoryBytes: nodes * GB, gpus: 0 } },
    ...{ job: { tasks: { nodes, perNode: 1 } }, directory, logPath: join(directory, 'log') },
    ...more,
  };
}

test('a container gets whole nodes, and the first one that waits keeps agents from them', async () => {
  const steps = open();
  expect(steps.mostAgents).toBe(3);
  await steps.launch(launchOf('first', 2));
  await steps.launch(launchOf('second', 3));
  await steps.launch(launchOf('first', 2));
  expect(steps.mostAgents).toBe(1);
  expect(seen).toEqual([
    { key: 'first', observation: { type: 'pending', reason: 'waits for 2 nodes of job 7' } },
    { key: 'second', observation: { type: 'pending', reason: 'waits for 3 nodes of job 7' } },
  ]);
  await steps.startNext();
  expect(steps.nodes.size).toBe(0);
  await steps.stop('first', { graceMs: 1000 });
  expect(seen.at(-1)).toMatchObject({ key: 'first', observation: { type: 'ended', end: { kind: 'stopped' } } });
  expect([steps.has('first'), steps.mostAgents]).toEqual([false, 0]);
});

test('one that cannot end in time keeps no nodes', async () => {
  const steps = open({ endsAt: Date.now() + 60_000 });
  await steps.launch(launchOf('long', 2, { job: { tasks: { nodes: 2, perNode: 1 }, duration: 120_000 } }));
  expect(steps.mostAgents).toBe(3);
  await steps.launch(launchOf('short', 1, { job: { tasks: { nodes: 1, perNode: 2 }, duration: 1000 } }));
  expect(steps.mostAgents).toBe(2);
});

test.each([
  { what: 'nodes', nodes: 4, message: 'need 4 nodes with 2 cores, 1024 MiB each, and job 7 has 3: ' },
  {
    what: 'cores',
    nodes: 2,
    limits: { cores: 10, memoryBytes: GB, gpus: 0 },
    message: 'need 2 nodes with 5 cores, 512 MiB each, and 0 nodes of job 7 have so much: ',
  },
  {
    what: 'GPUs',
    nodes: 1,
    limits: { cores: 1, memoryBytes: GB, gpus: 1 },
    message: 'need 1 node with 1 core, 1024 MiB and 1 GPU each, and 0 nodes of job 7 have so much: ',
  },
])('one that needs more $what than the job has is rejected', async ({ nodes, limits, message }) => {
  const launch = launchOf('a', nodes, limits && { limits });
  await expect(open().launch(launch)).rejects.toMatchObject({
    code: 'REJECTED',
    message: expect.stringContaining(message),
  });
});
