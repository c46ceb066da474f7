import { createPlan, MAX_CELLS, parsePipeline } from '@sluice/core';
import { createRunFacts } from '@sluice/run';
import { expect, test } from 'vitest';
import { listItems } from '../../src/session/list-items.ts';
import { createRunUsage } from '../../src/session/run-usage.ts';

function createListingRun() {
  const parsed = parsePipeline({
    file: 'p.yaml',
    text: `version: 1
name: p
axes: { sample: [A, B], part: "\${{ steps.split.results.parts }}" }
steps:
  split: { each: sample, image: i, command: [split], results: { parts: array } }
  work: { each: part, image: i, command: [work] }
`,
  });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  const plan = createPlan(parsed.value.pipeline);
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  const facts = createRunFacts(plan.value);
  return { plan: plan.value, facts, usage: createRunUsage(facts, undefined) };
}

const parts = (count: number) => ({ parts: Array.from({ length: count }, (_, item) => item) });

test('listItems: lists that are read before one of them is recorded count together', () => {
  const run = createListingRun();
  const half = MAX_CELLS / 2;
  expect(listItems(run, { step: 0, cell: 0 }, parts(half + 1)).ok).toBe(true);
  expect(listItems(run, { step: 0, cell: 1 }, parts(half))).toEqual({
    ok: false,
    error: `axis \`part\`: with its 50000 items step \`work\` has 100001 cells; the maximum is 100000`,
  });
  // The one that was rejected does not count, and the other counts once.
  expect(listItems(run, { step: 0, cell: 0 }, parts(half)).ok).toBe(true);
  expect(listItems(run, { step: 0, cell: 1 }, parts(half)).ok).toBe(true);
});
