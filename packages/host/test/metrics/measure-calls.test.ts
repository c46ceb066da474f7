import { type ContainerService, ServiceError } from '@sluice/client';
import { expect, test } from 'vitest';
import { measureCalls } from '../../src/metrics/measure-calls.ts';

const SCOPE = { clusterID: 'c', accountID: 'a' };

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

test('every call is counted once, with its reply, and answers as before', async () => {
  const rejected = new ServiceError('RESOURCE_EXHAUSTED', 'no space');
  const service = {
    discovery: { listAccounts: async () => ['one'] },
    containers: {
      create: () => Promise.reject(rejected),
      async *list() {
        yield 'first';
        yield 'second';
      },
      // biome-ignore lint/correctness/useYield: it fails before the first part.
      async *logs() {
        throw rejected;
      },
    },
    volumes: {
      files: () => 'files',
      // biome-ignore lint/correctness/useYield: it fails before the first volume.
      async *list() {
        throw new TypeError('a bug');
      },
    },
    watch: () => undefined,
    close: async () => {},
  } as unknown as ContainerService;
  const seen: string[] = [];
  const measured = measureCalls(service, ({ call, reply, seconds }) => {
    expect(seconds).toBeGreaterThanOrEqual(0);
    seen.push(`${call} ${reply}`);
  });
  expect(await measured.discovery.listAccounts('-')).toEqual(['one']);
  await expect(measured.containers.create(SCOPE, {} as never)).rejects.toBe(rejected);
  expect(await collect(measured.containers.list(SCOPE))).toEqual(['first', 'second']);
  await expect(collect(measured.volumes.list(SCOPE))).rejects.toThrow('a bug');
  expect(measured.volumes.files({ ...SCOPE, id: 'v' }, {} as never)).toBe('files');
  await expect(collect(measured.containers.logs({ ...SCOPE, id: 'x' }))).rejects.toBe(rejected);
  for await (const item of measured.containers.list(SCOPE)) if (item !== undefined) break;
  expect(seen).toEqual([
    'discovery.listAccounts ok',
    'containers.create RESOURCE_EXHAUSTED',
    'containers.list ok',
    'volumes.list error',
    'containers.list ok',
  ]);
});
