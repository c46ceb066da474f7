import { expect, test } from 'vitest';
import { parsePipeline } from '../../src/parse/parse-pipeline.ts';
import { createPlan } from '../../src/plan/create-plan.ts';
import { stepsWithImages } from '../../src/plan/steps-with-images.ts';

test('stepsWithImages: a parameter that is empty leaves the image out', () => {
  const text = `
version: 1
name: p
params: { image: "" }
steps:
  plain: { command: [a] }
  fixed: { image: alpine, command: [a] }
  chosen: { image: "\${{ params.image }}", command: [a] }
  cells: { matrix: { tag: [a, b] }, image: "x:\${{ matrix.tag }}", command: [a] }
`;
  const names = (params: Record<string, string>) => {
    const parsed = parsePipeline({ file: 'pipeline.yaml', text });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
    const plan = createPlan(parsed.value.pipeline, { params });
    if (!plan.ok) throw new Error(JSON.stringify(plan.error));
    return stepsWithImages(plan.value).map(({ name }) => name);
  };
  expect(names({})).toEqual(['fixed', 'cells']);
  expect(names({ image: 'debian' })).toEqual(['fixed', 'chosen', 'cells']);
});
