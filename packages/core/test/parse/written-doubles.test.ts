import { describe, expect, it } from 'vitest';
import { createPlan, fail, ok, parsePipeline, resolveContainer } from '../../src/index.ts';

const CONTEXT = { run: { id: 'r', name: 'p', plannedTime: '' }, attempt: 1, steps: () => undefined };

function paramsOf(text: string, file = 'p.yaml') {
  const parsed = parsePipeline({ file, text });
  if (!parsed.ok) return parsed.error.map(({ message }) => message);
  return Object.fromEntries(
    Object.entries(parsed.value.pipeline.params).map(([name, { type, default: preset }]) => [name, [type, preset]]),
  );
}

describe('withWrittenDoubles', () => {
  it('withWrittenDoubles gives a default that is written as a double the type number', () => {
    const yaml =
      'version: 1\nname: p\nparams:\n  a: 1.0\n  b: { default: 2. }\n  c: 3\n  d: 1e3 # many\n  e: { type: integer, default: 4.0 }\n  f: -1.0\n  g: "1.0"\n  h: [1.0]\nsteps: { s: { command: [x] } }\n';
    const numbers = { a: ['number', 1], b: ['number', 2], c: ['integer', 3], d: ['number', 1000] };
    const others = { e: ['integer', 4], f: ['number', -1], g: ['string', '1.0'], h: ['array', [1]] };
    expect(paramsOf(yaml)).toEqual({ ...numbers, ...others });
    const json =
      '{"version": 1, "name": "p", "params": {"a": 1.0, "b": {"default": 2.0}, "c": 3}, "steps": {"s": {"command": ["x"]}}}';
    expect(paramsOf(json, 'p.json')).toEqual({ a: ['number', 1], b: ['number', 2], c: ['integer', 3] });
  });

  it('withWrittenDoubles applies to included and used files too, so that a run divides as written', () => {
    const files: Readonly<Record<string, string>> = {
      'a.yaml': 'params: { a: 1.0 }\n',
      'u.yaml': 'params: { u: 1.0 }\ncommand: [x, "${{ params.u / 4 }}"]\n',
    };
    const text =
      'version: 1\nname: p\ninclude: [a.yaml]\nsteps:\n  s: { command: [x, "${{ params.a / 4 }}"] }\n  t: { uses: u.yaml }\n';
    const parsed = parsePipeline({
      file: 'p.yaml',
      text,
      read: (path) => (files[path] === undefined ? fail('none') : ok(files[path])),
    });
    const plan = parsed.ok ? createPlan(parsed.value.pipeline) : parsed;
    if (!plan.ok) throw new Error(JSON.stringify(plan.error));
    const words = plan.value.steps.map(({ index, cells }) => {
      const container = resolveContainer(plan.value, index, { cell: cells![0]!, context: CONTEXT });
      return container.ok ? container.value.command?.[1] : container.error;
    });
    expect(words).toEqual(['0.25', '0.25']);
  });
});
