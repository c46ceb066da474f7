import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { NodeGpus } from '../../../src/engines/allocation/node-gpus.ts';
import type { Launch } from '../../../src/engines/engine.ts';

const ENV = { CUDA_VISIBLE_DEVICES: '2,5,7', GPU_DEVICE_ORDINAL: '2,5,7', PATH: '/bin' };
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-gpus-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

function launchOf(key: string, gpus: number): Launch {
  return {
    ...{ key, directory, containerID: key, clusterID: 'c', accountID: 'a', ports: {}, options: {}, mounts: [] },
    command: ['true'],
    env: { CUDA_VISIBLE_DEVICES: '0,1,2' },
    limits: { cores: 1, memoryBytes: 1, gpus },
    logPath: join(directory, 'log'),
  };
}

test('NodeGpus gives each container its own, by all variables of the job', async () => {
  const gpus = new NodeGpus(ENV);
  expect(gpus.count).toBe(3);
  const { env, limits } = await gpus.assign(launchOf('a', 2));
  expect(env).toEqual({ CUDA_VISIBLE_DEVICES: '2,5', GPU_DEVICE_ORDINAL: '2,5' });
  expect(limits.gpus).toBe(0);
  expect((await gpus.assign(launchOf('b', 1))).env.CUDA_VISIBLE_DEVICES).toBe('7');
  gpus.release('a');
  expect((await gpus.assign(launchOf('c', 1))).env.CUDA_VISIBLE_DEVICES).toBe('2');
});

test('NodeGpus shows none to a container without any', async () => {
  const { env } = await new NodeGpus(ENV).assign(launchOf('a', 0));
  expect(env).toEqual({ CUDA_VISIBLE_DEVICES: '', GPU_DEVICE_ORDINAL: '' });
  const without = new NodeGpus({ CUDA_VISIBLE_DEVICES: '' });
  expect(without.count).toBe(0);
  expect((await without.assign(launchOf('a', 0))).env).toEqual({ CUDA_VISIBLE_DEVICES: '0,1,2' });
});

test('NodeGpus of the next agent knows what a container has', async () => {
  await new NodeGpus(ENV).assign(launchOf('a', 1));
  const next = new NodeGpus(ENV);
  await next.restore(launchOf('a', 1));
  const other = { ...launchOf('b', 2), directory: mkdtempSync(join(directory, 'b-')) };
  await next.restore(other);
  expect((await next.assign(other)).env.CUDA_VISIBLE_DEVICES).toBe('5,7');
  expect((await next.assign(launchOf('a', 1))).env.CUDA_VISIBLE_DEVICES).toBe('2');
});
