import { expect, test } from 'vitest';
import { parsePipeline } from '../../src/parse/parse-pipeline.ts';
import { orderDependencies } from '../../src/plan/collect-dependencies.ts';
import { createPlan } from '../../src/plan/create-plan.ts';

test.each([
  { what: 'needs', step: 'needs: [a]', found: ['a'] },
  { what: 'needs beside results', step: 'needs: [a], env: { N: "${{ steps.a.results.n }}" }', found: ['a'] },
  { what: 'results', step: 'env: { N: "${{ steps.a.results.n }}" }', found: [] },
  { what: 'results and outputs', step: 'env: { N: "${{ steps.a.results.n }} ${{ steps.a.outputs.o }}" }', found: [] },
  { what: 'the list of a foreach', step: 'foreach: "${{ [steps.a.results.n] }}"', found: [] },
  { what: 'the status', step: 'when: "${{ steps.a.status == \'failed\' }}"', found: ['a'] },
  {
    what: 'results and the status',
    step: 'env: { N: "${{ steps.a.results.n }} ${{ steps.a.status }}" }',
    found: ['a'],
  },
  { what: 'the address of a service', step: 'env: { U: "${{ steps.s.ports.http.url }}" }', found: ['s'] },
  { what: 'an input', step: 'inputs: { i: a.o }', found: [] },
])('orderDependencies of a step that has $what of another one: $found', ({ step, found }) => {
  const text = `version: 1
name: p
steps:
  a: { command: [a], outputs: { o: /o }, results: { n: integer } }
  s: { command: [s], service: true, ports: { http: {} } }
  b: { command: [b], ${step} }`;
  const parsed = parsePipeline({ file: 'p.yaml', text });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  const plan = createPlan(parsed.value.pipeline);
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  expect(orderDependencies(plan.value.steps[2]!, plan.value).map((planned) => planned.step.name)).toEqual(found);
});
