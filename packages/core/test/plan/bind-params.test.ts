import { describe, expect, it } from 'vitest';
import { createPlan, type Json, parsePipeline } from '../../src/index.ts';

function bind(param: string, value: Json): unknown {
  const text = `version: 1\nname: a\nparams: { x: ${param} }\nsteps: { s: { command: [x] } }\n`;
  const parsed = parsePipeline({ file: 'p.yaml', text });
  if (!parsed.ok) throw new Error(parsed.error[0]?.message);
  const plan = createPlan(parsed.value.pipeline, { params: { x: value } });
  return plan.ok ? plan.value.params.x : plan.error.map(({ message }) => message);
}

describe('bindParams', () => {
  it('bindParams converts texts by the type', () => {
    expect(bind('{ type: integer }', '12')).toBe(12);
    expect(bind('{ type: array }', '[1, "a"]')).toEqual([1, 'a']);
    expect(bind('{ type: string }', '12')).toBe('12');
  });

  it('bindParams rejects what JSON cannot say and what nests without end', () => {
    expect(bind('{ type: number }', '1e999')).toEqual(['parameter `x` is "1e999", which is not of type number']);
    expect(bind('{ type: array }', '[1e999]')).toEqual(['parameter `x` holds a number that is not finite']);
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
    expect(bind('{ type: array }', deep)).toEqual(['parameter `x` is nested deeper than 64 levels']);
  });
});
