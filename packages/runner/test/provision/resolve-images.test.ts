import { describe, expect, test } from 'vitest';
import { explainStep } from '../../src/explain/explain-step.ts';
import { describeStatus } from '../../src/report/describe-status.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createHandPlan, createStep } from '../simulation/plans.ts';
import { createRig } from '../simulation/rig.ts';

/** Runs a cached step with this image; `digest` is what the tag names now. */
function createImageRig(features: readonly string[]) {
  const rig = createRig('images', { features });
  const asked: string[] = [];
  let digest = 'sha256:1';
  let runId = '';
  const discovery = {
    ...rig.options.service.discovery,
    resolveImage: async (_: unknown, image: string) => {
      asked.push(image);
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

  test('goes by the name where the service does not announce digests', async () => {
    const rig = createImageRig([]);
    await rig.run();
    rig.move('sha256:2');
    expect(await rig.run()).toEqual(['reused', 'reused', 'reused']);
    expect(rig.asked).toEqual([]);
    expect((await rig.why('a'))?.image).toEqual({ image: 'node:20' });
    expect(await rig.why('c')).not.toHaveProperty('image');
  });
});
