import { createPlan, parsePipeline } from '@sluice/core';
import { expect, test } from 'vitest';
import { previewReuse } from '../../src/cache/preview-reuse.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig } from '../simulation/rig.ts';

const TEXT = `version: 1
name: sample
steps:
  prepare: { image: i, command: [make], outputs: { data: /out } }
  fit: { image: i, matrix: { n: [1, 2] }, command: [fit], inputs: { data: { from: prepare.data, path: /in } } }
  last: { image: i, command: [last], needs: [fit] }
`;

function createTestPlan() {
  const parsed = parsePipeline({ file: 'p.yaml', text: TEXT });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  const plan = createPlan(parsed.value.pipeline, { params: {} });
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  return plan.value;
}

test('a preview sums the recorded durations of the reused cells, also of those that an older run has executed', async () => {
  const rig = createRig('measure', { behave: { prepare: { runMs: 5_000 }, fit: { runMs: 2_000 } } });
  const plan = createTestPlan();
  const run = async (reuse?: { runId: string; from: string[] }) => {
    const started = await rig.go(startRun({ ...rig.options, plan, baseDir: '/base', ...(reuse && { reuse }) }));
    if (!started.ok) throw new Error(started.error.message);
    await rig.go(started.value.finished);
    return started.value.runId;
  };
  const { home } = rig.options;
  const preview = async (runId: string) => {
    const given = { plan, home, reuse: { runId, from: ['last'] }, disk: rig.options.disk!, clock: rig.options.clock! };
    const previewed = await rig.go(previewReuse(given));
    if (!previewed.ok) throw new Error(previewed.error.message);
    return previewed.value;
  };
  const first = await run();
  const steps = await preview(first);
  expect(steps).toMatchObject([
    { step: 'prepare', cells: 1, reused: 1, unmeasured: 0 },
    { step: 'fit', cells: 2, reused: 2, unmeasured: 0 },
    { step: 'last', cells: 1, reused: 0, reusedMs: 0, unmeasured: 0 },
  ]);
  const [prepare, fit] = steps.map(({ reusedMs }) => reusedMs);
  expect(Math.abs(prepare! - 5_000)).toBeLessThan(1_000);
  expect(Math.abs(fit! - 4_000)).toBeLessThan(2_000);
  const second = await run({ runId: first, from: ['last'] });
  const again = await preview(second);
  expect(again[0]).toMatchObject({ reused: 1, unmeasured: 0 });
  expect(Math.abs(again[0]!.reusedMs - prepare!)).toBeLessThan(1_000);
  await rig.go(rig.options.disk!.remove(`${home}/durations/sample.json`));
  expect((await preview(second))[0]).toMatchObject({ reused: 1, reusedMs: 0, unmeasured: 1 });
});
