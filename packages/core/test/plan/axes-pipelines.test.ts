import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  createPlan,
  isMatched,
  matchedCells,
  matchOf,
  type Plan,
  type PlannedStep,
  parsePipeline,
} from '../../src/index.ts';

/**
 * Pipelines that people run with other systems, on small tables. `NAME.txt` has the cells of each step and what each of them
 * reads of other steps with axes, by input if it has `where` or `all`: one cell, or a directory in brackets.
 * UPDATE_TESTDATA=1 writes it; review what it has written. Where a step lists the items of an axis, there is one cell for each
 * list.
 */
const DATA = new URL('axes-pipelines/', import.meta.url);

function planFile(name: string): Plan {
  const text = readFileSync(new URL(`${name}.yaml`, DATA), 'utf8');
  const parsed = parsePipeline({ file: `${name}.yaml`, text });
  if (!parsed.ok) throw new Error(parsed.error.map(({ message }) => message).join('\n'));
  expect(parsed.value.warnings).toEqual([]);
  const plan = createPlan(parsed.value.pipeline);
  if (!plan.ok) throw new Error(plan.error.map(({ message }) => message).join('\n'));
  return plan.value;
}

function describeStep(plan: Plan, reader: PlannedStep): readonly string[] {
  const { name, each } = reader.step;
  const cells = each === undefined ? '' : ` ${reader.cells!.map(({ key }) => key).join(' ')}`;
  const edges = reader.dependencies.flatMap((dependency) => {
    const source = plan.steps[dependency.on]!;
    if (!isMatched(reader, source)) return [];
    const match = matchOf(plan, reader, dependency);
    return reader.cells!.map(({ key }, index) => {
      const read = matchedCells(match, index).map((cell) => source.cells![cell]!.key);
      const shown = match.isSingle ? (read[0] ?? 'none') : `[${read.join(' ')}]`;
      return `  ${key} ${dependency.input ?? 'reads'}: ${source.step.name} ${shown}`;
    });
  });
  return [`${name}:${cells}`, ...edges];
}

describe('pipelines with axes', () => {
  const names = readdirSync(DATA).flatMap((file) => (file.endsWith('.yaml') ? [file.slice(0, -'.yaml'.length)] : []));

  it.each(names)('%s has the cells and matches that are written down', (name) => {
    const plan = planFile(name);
    const text = `${plan.steps.flatMap((step) => describeStep(plan, step)).join('\n')}\n`;
    const expected = new URL(`${name}.txt`, DATA);
    if (process.env.UPDATE_TESTDATA === '1') writeFileSync(expected, text);
    expect(text).toBe(readFileSync(expected, 'utf8'));
  });

  it('are twelve', () => {
    expect(names.length).toBe(12);
  });
});
