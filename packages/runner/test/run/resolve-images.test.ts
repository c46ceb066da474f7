import { ServiceError } from '@sluice/client';
import { explainStep } from '@sluice/home';
import { describeStatus } from '@sluice/run';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { resolveImages } from '../../src/run/resolve-images.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig } from '../simulation/rig.ts';

/** Runs a cached step with this image; `digest` is what the tag names now. */
function createImageRig(features: readonly string[]) {
  const rig = createRig('images', { features });
  const asked: string[] = [];
  let digest = 'sha256:1';
  let runId = '';
  let fault: ServiceError | undefined;
  const discovery = {
    ...rig.options.service.discovery,
    resolveImage: async (_: unknown, image: string) => {
      asked.push(image);
      if (fault !== undefined) throw fault;
      return { digest };
    },
  };
  const service = { ...rig.options.service, discovery };
  const step = (name: string, image: string) => createStep(name, { image, cache: { ignore: [] } });
  const plan = createHandPlan([step('a', 'node:20'), step('b', 'node:20'), step('c', '')]);
  return {
    asked,
    move: (to: string) => {
      digest = to;
    },
    fail: (message: string) => {
      fault = new ServiceError('UNAVAILABLE', message);
    },
    warnings: () => rig.events.flatMap((event) => (event.type === 'warning' ? [event.message] : [])),
    async why(step: string) {
      const explained = await rig.go(explainStep({ ...rig.options, runId, step }));
      return explained.ok ? explained.value : undefined;
    },
    async run() {
      const started = await rig.go(startRun({ ...rig.options, service, plan, baseDir: '/' }));
      if (!started.ok) throw new Error(started.error.message);
      const report = await rig.go(started.value.finished);
      runId = report.runId;
      return report.steps.map(describeStatus);
    },
  };
}

describe('resolveImages', () => {
  test('asks once for each image, and a step runs again when its tag names another image', async () => {
    const rig = createImageRig(['image-digests']);
    expect(await rig.run()).toEqual(['succeeded', 'succeeded', 'succeeded']);
    expect(rig.asked).toEqual(['node:20']);
    expect(await rig.run()).toEqual(['reused', 'reused', 'reused']);
    rig.move('sha256:2');
    expect(await rig.run()).toEqual(['succeeded', 'succeeded', 'reused']);
    expect(await rig.why('b')).toMatchObject({
      image: { image: 'node:20', digest: 'sha256:2' },
      cache: { nearest: { differences: [{ name: 'image', before: 'sha256:1', after: 'sha256:2' }] } },
    });
    expect(rig.asked).toEqual(['node:20', 'node:20', 'node:20']);
  });

  test('asks the registry for an image that a step always pulls, if the cluster knows that word', async () => {
    for (const features of [['image-digests', 'docker-options'], ['image-digests']]) {
      const { options } = createRig('fresh', { features });
      const asked: unknown[] = [];
      const resolveImage = async (_: unknown, image: string, given: { readonly fresh?: boolean } = {}) => {
        asked.push([image, given.fresh === true]);
        return { digest: 'sha256:1' };
      };
      const service = { ...options.service, discovery: { ...options.service.discovery, resolveImage } };
      const plan = createHandPlan([
        createStep('a', { image: 'node:20' }),
        createStep('b', { image: 'node:20', docker: { pull: 'always' } }),
        createStep('c', { image: 'node:22', docker: { pull: 'missing' } }),
      ]);
      const instanceTypes = await service.discovery.listInstanceTypes('sim');
      const run = { id: 'r', name: 'r', plannedTime: '' };
      await resolveImages({ plan, service, home: options.scope, placement: undefined, instanceTypes, run });
      expect(asked).toEqual([
        ['node:20', features.length > 1],
        ['node:22', false],
      ]);
    }
  });

  test('goes by the name where the service does not announce digests', async () => {
    const rig = createImageRig([]);
    await rig.run();
    rig.move('sha256:2');
    expect(await rig.run()).toEqual(['reused', 'reused', 'reused']);
    expect(rig.asked).toEqual([]);
    expect((await rig.why('a'))?.image).toEqual({ image: 'node:20' });
    expect(await rig.why('c')).not.toHaveProperty('image');
  });

  test('goes by the name, and says so once, where the service cannot tell the digest', async () => {
    const rig = createImageRig(['image-digests']);
    rig.fail('the engine is away');
    expect(await rig.run()).toEqual(['succeeded', 'succeeded', 'succeeded']);
    expect(rig.warnings()).toEqual([
      'could not find out the digest of image node:20 on cluster sim: the engine is away; its name identifies it in the cache of this run',
    ]);
    expect((await rig.why('a'))?.image).toEqual({ image: 'node:20' });
    expect(await rig.run()).toEqual(['reused', 'reused', 'reused']);
  });

  test.each(['a service over HTTP', 'a service in this process'])(
    'waits for a registry that does not reply for 5 s in all, with at most 32 requests at once, with %s',
    async (kind) => {
      vi.useFakeTimers();
      const { options } = createRig('silent registry', { features: ['image-digests'] });
      const instanceTypes = await options.service.discovery.listInstanceTypes('sim');
      let calls = 0;
      const resolveImage = (_: unknown, __: string, given: { readonly signal?: AbortSignal } = {}) => {
        calls++;
        return new Promise<undefined>((_resolve, reject) => {
          if (kind.includes('HTTP')) {
            given.signal?.addEventListener('abort', () => reject(new ServiceError('ABORTED', 'it was aborted')));
          }
        });
      };
      const service = { ...options.service, discovery: { ...options.service.discovery, resolveImage } };
      const warnings: string[] = [];
      const images = ['node:20', ...Array.from({ length: 39 }, (_, at) => `debian:${at}`)];
      const plan = createHandPlan(images.map((image, at) => createStep(`s${at}`, { image })));
      const resolved = resolveImages({
        ...{ plan, service, instanceTypes, home: options.scope, placement: undefined },
        run: { id: 'r', name: 'p', plannedTime: '' },
        warn: (message) => void warnings.push(message),
      });
      await vi.advanceTimersByTimeAsync(5_000);
      expect(await resolved).toEqual({ sim: {} });
      expect(calls).toBe(32);
      expect(warnings).toEqual([
        'could not find out the digest of image node:20 (and of 39 more) on cluster sim: no reply came within 5 s; its name identifies it in the cache of this run',
      ]);
    },
  );
});

afterEach(() => {
  vi.useRealTimers();
});
