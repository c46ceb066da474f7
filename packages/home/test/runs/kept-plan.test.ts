import { createPlan, type Plan, parsePipeline, valuesOfCell } from '@sluice/core';
import { encodePlan } from '@sluice/run';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { parsePlan, serializePlan } from '../../src/runs/run-home.ts';

const CONDITIONS = ['succeeded', 'failed', 'completed', 'skipped', 'running'] as const;

const LAST = 59;

/** Sixty steps, the last of which depends on any of the others in any way. */
const arbitraryPlan = fc
  .record({
    edges: fc.array(
      fc.record(
        { on: fc.integer({ min: 0, max: LAST - 1 }), condition: fc.constantFrom(...CONDITIONS), data: fc.boolean() },
        { noNullPrototype: true },
      ),
      { maxLength: LAST, size: 'max' },
    ),
    final: fc.boolean(),
  })
  .map(({ edges, final }): Plan => {
    const dependencies = [...new Map(edges.map((edge) => [edge.on, edge])).values()].sort((a, b) => a.on - b.on);
    const needs = dependencies.map(({ on, condition }) => ({ step: `s${on}`, condition }));
    const others = Array.from({ length: LAST }, (_, at) => createStep(`s${at}`));
    const last = createStep('last', { needs });
    const { pipeline, params, steps } = createHandPlan([...others, last]);
    return {
      pipeline: final ? { ...pipeline, steps: others, finally: [last] } : pipeline,
      params,
      steps: steps.map((step) => (step.index === LAST ? { ...step, final, dependencies } : step)),
    };
  });

const layers = (width: number) => {
  const first = Array.from({ length: width }, (_, at) => `first-${at}`);
  const steps = Object.fromEntries([
    ...first.map((name) => [name, { command: ['true'] }]),
    ...first.map((_, at) => [`second-${at}`, { command: ['true'], needs: first }]),
  ]);
  return JSON.stringify({ version: 1, name: 'layers', steps });
};

function planOf(text: string): Plan {
  const parsed = parsePipeline({ file: 'p.json', text });
  const plan = parsed.ok ? createPlan(parsed.value.pipeline) : parsed;
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  return plan.value;
}

describe('a stored plan', () => {
  test('is read as it was written', () => {
    fc.assert(
      fc.property(arbitraryPlan, (plan) => {
        const bytes = serializePlan(plan);
        // As JSON, which has no `undefined`.
        const read = parsePlan(bytes);
        expect(read).toEqual({ ok: true, value: JSON.parse(JSON.stringify(plan)) });
        expect(read.ok && Buffer.from(serializePlan(read.value)).equals(bytes)).toBe(true);
      }),
    );
  });

  test('is read with the doubles of its parameters', () => {
    const plan = {
      ...createHandPlan([createStep('s')]),
      paramDoubles: { rates: { items: { number: true as const } } },
    };
    expect(parsePlan(serializePlan(plan))).toEqual({ ok: true, value: plan });
  });

  test('is read with the values that each cell has of its own', () => {
    const step = {
      ...{
        each: 'sample',
        command: ['true'],
        timeout: '${{ each.sample.hours }}h',
        priority: '${{ each.sample.rank }}',
      },
      resources: { cpu: '${{ each.sample.cores }}', memory: '1GB' },
    };
    const items = [
      { id: 'S1', hours: 1, rank: 2, cores: 3 },
      { id: 'S2', hours: 4, rank: 5, cores: 6 },
    ];
    const axes = { sample: { items, key: '${{ item.id }}', parallelism: 1 } };
    const plan = planOf(JSON.stringify({ version: 1, name: 'values', axes, steps: { align: step } }));
    const read = parsePlan(serializePlan(plan));
    if (!read.ok) throw new Error(read.error);
    const { retry } = plan.steps[0]!.step;
    const values = { timeoutMs: 14_400_000, priority: 5, resources: { cpu: 6, memoryBytes: 1e9 }, retry, pools: {} };
    expect(valuesOfCell(plan, 0, 1)).toEqual(values);
    expect(valuesOfCell(read.value, 0, 1)).toEqual(values);
  });

  test('of a fan-in by `needs` takes the names and little else', () => {
    expect(serializePlan(planOf(layers(100))).length).toBeLessThan(100 * 100 * 20);
  });

  test('has one range for the steps that a step depends on in the same way', () => {
    const { steps } = encodePlan(planOf(layers(10)));
    expect(steps[15]!.dependencies).toEqual([{ on: [[0, 9]] }]);
  });

  test.each([
    ['{"format":3}', 'it was written by a newer version of sluice (format 3, and this one knows 2)'],
    [
      '{"pipeline":{},"params":{},"steps":[]}',
      'it was written by an earlier version of sluice (format 1, and this one reads only 2); use that version for the run, or remove its directory',
    ],
    ['{"format":"2"}', 'its format is unknown'],
    ['[', 'it is damaged: '],
    ['null', 'it is no plan'],
    ['{"format":2,"params":{}}', 'it is damaged: '],
  ])('%s is not read: %s', (text, expected) => {
    expect(parsePlan(Buffer.from(text))).toEqual({ ok: false, error: expect.stringContaining(expected) });
  });

  test('with a dependency on a step that it does not have is not read', () => {
    const kept = encodePlan(planOf(layers(2)));
    const steps = kept.steps.map((step) => ({ ...step, dependencies: [{ on: [[0, 1e15]] }] }));
    const read = parsePlan(Buffer.from(JSON.stringify({ ...kept, steps })));
    expect(read).toEqual({ ok: false, error: 'it is damaged: it has no step 1000000000000000' });
  });
});
