import { describe, expect, it } from 'vitest';
import { createPlan, fail, type Json, ok, parsePipeline, resolveContainer } from '../../src/index.ts';

const CONTEXT = { run: { id: 'run-1', name: 'main', plannedTime: '' }, attempt: 1, steps: () => undefined };

/** The evaluated commands by step, or the diagnostics. */
function commandsOf(files: Readonly<Record<string, string>>): unknown {
  const parsed = parsePipeline({
    file: 'main.yaml',
    text: files['main.yaml'] ?? '',
    read: (path) => (files[path] === undefined ? fail('there is no such file') : ok(files[path])),
  });
  if (!parsed.ok) return parsed.error.map(({ range, message }) => `${range?.file}:${range?.line}: ${message}`);
  const plan = createPlan(parsed.value.pipeline);
  if (!plan.ok) return plan.error;
  return Object.fromEntries(
    plan.value.steps.map(({ index, step, cells }) => {
      const container = resolveContainer(plan.value, index, { cell: cells![0]!, context: CONTEXT });
      return [step.name, container.ok ? container.value.command?.slice(1) : container.error];
    }),
  );
}

const OUTER = 'version: 1\nname: main\nparams: { a: 100, b: outer, c: theirs }\n';
const command = (...words: readonly string[]): string => JSON.stringify(['x', ...words]);

/** A step that uses `used.yaml`, once as a pipeline and once as a step file. */
function use(words: readonly string[], given: Readonly<Record<string, Json>>): readonly unknown[] {
  const main = `${OUTER}steps:\n  p: { uses: used.yaml, with: ${JSON.stringify(given)} }\n`;
  const params = 'params: { a: 1, b: two, map: { type: object, required: false } }';
  const pipeline = `version: 1\nname: used\n${params}\nsteps:\n  s: { command: ${command(...words)} }\n`;
  const results = [pipeline, `${params}\ncommand: ${command(...words)}\n`].map((used) =>
    commandsOf({ 'main.yaml': main, 'used.yaml': used }),
  );
  return results.map((result) => (Array.isArray(result) ? result : Object.values(result as object)[0]));
}

describe('bindWith', () => {
  it.each([
    ["${{ params[['a'][0]] }}", '5'],
    ["${{ ['a', 'b'].map(k, params[k]) }}", '[5,"two"]'],
    ['${{ params }}', '{"a":5,"b":"two","map":null}'],
    ["${{ {'in': params}['in'].b }}", 'two'],
    ['${{ cel.bind(params, params.a, params + 1) }}', '6'],
    ['${{ [7].map(params, params + 1) }}', '[8]'],
  ])('bindWith binds params as a whole, computed and shadowed to those of the used file: %s', (word, value) => {
    expect(use([word], { a: 5 })).toEqual([[value], [value]]);
  });

  it.each([
    ["${{ ['z'].map(run, params.b + run) }}", '["run-1z"]'],
    ["${{ ['b'].map(run, params[run]) }}", '["run-1"]'],
    ["${{ ['z'].map(run, ['y'].map(q, params.b + run + q)) }} ${{ params.b }}", '[["run-1zy"]] run-1'],
    ["${{ ['z'].map(outer0, [1].map(run, params.b + outer0)) }}", '[["run-1z"]]'],
    ["${{ [{'k': 1}].map(run, has(params.map.k)) }}", '[true]'],
  ])('bindWith never lets a variable of the used file hide a name in `with`: %s', (word, value) => {
    const given = { b: '${{ run.id }}', map: { k: '${{ run.id }}' } };
    expect(use([word], given)).toEqual([[value], [value]]);
  });

  it('bindWith takes a default literally, as in a run of the used file by itself', () => {
    const used = `params: { a: { default: "\${{ params.b }}" }, b: two }\ncommand: ${command('${{ params.a }}')}\n`;
    const main = `${OUTER}steps:\n  p: { uses: used.yaml }\n`;
    expect(commandsOf({ 'main.yaml': main, 'used.yaml': used })).toEqual({ p: ['${{ params.b }}'] });
  });

  it.each<[string, Json]>([
    ['10,001 numbers', Array.from({ length: 10_001 }, (_, index) => index)],
    ['10,001 doubles', Array.from({ length: 10_001 }, (_, index) => index / 2)],
    ['2,000 maps', Array.from({ length: 2000 }, (_, index) => ({ id: index, name: `n-${index}`, tags: ['a', 'b'] }))],
  ])('bindWith binds a list of any length, given or as a default: %s', (_, list) => {
    const text = JSON.stringify(list);
    const words = ['${{ params.l[1] }}', '${{ size(params.l.filter(x, true)) }}', '${{ params.l }}'];
    const results = ['step', 'pipeline'].flatMap((form) =>
      [
        { preset: '[]', given: text },
        { preset: text, given: undefined },
      ].map(({ preset, given }) => {
        const file = `params: { l: ${preset} }\n`;
        const used = {
          step: `${file}command: ${command(...words)}\n`,
          pipeline: `version: 1\nname: u\n${file}steps:\n  s: { command: ${command(...words)} }\n`,
        }[form]!;
        const main = `${OUTER}steps:\n  p: { uses: used.yaml${given === undefined ? '' : `, with: { l: ${given} }`} }\n`;
        const result = commandsOf({ 'main.yaml': main, 'used.yaml': used });
        return Array.isArray(result) ? result : Object.values(result as object)[0];
      }),
    );
    const item = (list as readonly Json[])[1];
    const expected = [
      typeof item === 'object' ? JSON.stringify(item) : String(item),
      String((list as Json[]).length),
      text,
    ];
    expect(results).toEqual([expected, expected, expected, expected]);
  });

  it('bindWith binds a list through nested uses, each default once', () => {
    const list = Array.from({ length: 10_001 }, (_, index) => index);
    const inner = `version: 1\nname: inner\nparams: { l: ${JSON.stringify(list)}, m: [7] }\nsteps:\n  s: { command: ${command('${{ params.l[3] + params.m[0] }}')} }\n`;
    const middle =
      'version: 1\nname: middle\nsteps:\n  a: { uses: inner.yaml }\n  b: { uses: inner.yaml, with: { m: [9] } }\n';
    const main = `${OUTER}steps:\n  p: { uses: middle.yaml }\n  q: { uses: middle.yaml }\n  r: { uses: inner.yaml, with: { m: [1] } }\n`;
    const files = { 'main.yaml': main, 'middle.yaml': middle, 'inner.yaml': inner };
    expect(commandsOf(files)).toEqual({
      'p-a-s': ['10'],
      'p-b-s': ['12'],
      'q-a-s': ['10'],
      'q-b-s': ['12'],
      'r-s': ['4'],
    });
    const parsed = parsePipeline({
      file: 'main.yaml',
      text: main,
      read: (path) => ok(files[path as keyof typeof files]),
    });
    const bound = parsed.ok ? Object.values(parsed.value.pipeline.bound ?? {}) : [];
    expect(bound.filter(({ value }) => (value as Json[]).length > 1)).toHaveLength(1);
  });

  it('bindWith binds a list and expressions to the same names without a conflict', () => {
    const words = [
      '${{ [1, 2].map(bound, bound + params.list[0]) }}',
      '${{ params.list + params.list }}',
      '${{ params }}',
    ];
    const params = 'params: { list: [5, "$${{ x }}"], text: "${{ y }}" }';
    const used = `${params}\ncommand: ${command(...words)}\n`;
    const main = `${OUTER}steps:\n  p: { uses: used.yaml, with: { text: "\${{ params.b }}" } }\n`;
    expect(commandsOf({ 'main.yaml': main, 'used.yaml': used })).toEqual({
      p: ['[6,7]', '[5,"$${{ x }}",5,"$${{ x }}"]', '{"list":[5,"$${{ x }}"],"text":"outer"}'],
    });
  });

  it('a file cannot name what its parameters are bound to', () => {
    const used = `params: { list: [5] }\ncommand: ${command('${{ params.list }}', '${{ bound.x }}')}\n`;
    expect(commandsOf({ 'main.yaml': `${OUTER}steps:\n  p: { uses: used.yaml }\n`, 'used.yaml': used })).toEqual([
      'used.yaml:2: unknown name `bound`',
    ]);
  });

  it('bindWith passes params as a whole through nested uses', () => {
    const inner = `version: 1\nname: inner\nparams: { all: { type: object }, c: own }\nsteps:\n  s: { command: ${command("${{ params.all['a'] }}", "${{ ['c'].map(k, params[k]) }}")} }\n`;
    const middle = `version: 1\nname: middle\nparams: { a: 1 }\nsteps:\n  m: { uses: inner.yaml, with: { all: "\${{ params }}" } }\n`;
    const main = `${OUTER}steps:\n  p: { uses: middle.yaml, with: { a: 5 } }\n`;
    expect(commandsOf({ 'main.yaml': main, 'middle.yaml': middle, 'inner.yaml': inner })).toEqual({
      'p-m-s': ['5', '["own"]'],
    });
  });

  it('useStep reports a parameter of the using pipeline that the step file does not declare', () => {
    const main = `${OUTER}steps:\n  p: { uses: used.yaml }\n`;
    const used = `params: { a: 1 }\ncommand: [x]\nenv: { C: "\${{ params.c }}" }\n`;
    expect(commandsOf({ 'main.yaml': main, 'used.yaml': used })).toEqual([
      'used.yaml:3: the step file has no parameter `c`',
    ]);
  });
});

describe('bindVariables', () => {
  const used = `version: 1\nname: used\nparams: { a: 1 }\nenv: { X: inner }\nsteps:\n  s: { command: ${command('${{ params.a }}', '${{ env.X }}')}, matrix: { k: [1] } }\n`;
  const main = (given: string): string =>
    `${OUTER}env: { X: "outer \${{ params.b }}", Y: "\${{ matrix.k }}" }\nsteps:\n  p: { uses: used.yaml, with: { a: "${given}" } }\n`;

  it("bindVariables reads the using pipeline's variable, not the used one's of the same name", () => {
    expect(commandsOf({ 'main.yaml': main('${{ env.X }}'), 'used.yaml': used.replace('a: 1', 'a: one') })).toEqual({
      'p-s': ['outer outer', 'inner'],
    });
  });

  it.each([
    ['${{ matrix.k }}', '`matrix` is not available in `with` of a step that uses a pipeline'],
    ['${{ env }}', '`env` is not available in `with` of a step that uses a pipeline'],
    ['${{ env.Y }}', '`matrix` is not available in `with` of a step that uses a pipeline'],
    ['${{ env.Z }}', 'the pipeline has no environment variable `Z`'],
  ])('bindVariables rejects what would be that of a step in the used pipeline: %s', (given, message) => {
    expect(commandsOf({ 'main.yaml': main(given), 'used.yaml': used })).toContain(`main.yaml:6: ${message}`);
  });
});

describe('assemblePipeline', () => {
  it('assemblePipeline rejects a used step with the name of another step with `uses`, to which its edges would lead', () => {
    const two = `version: 1\nname: two\nsteps:\n  a: { command: [x], outputs: { o: /o } }\n  b: { command: [y], inputs: { i: a.o } }\n`;
    const one = `version: 1\nname: one\nsteps:\n  c: { command: [x], outputs: { o: /o } }\noutputs: { o: c.o }\n`;
    const main = `${OUTER}steps:\n  p: { uses: two.yaml }\n  p-a: { uses: one.yaml }\n`;
    expect(commandsOf({ 'main.yaml': main, 'two.yaml': two, 'one.yaml': one })).toEqual([
      'main.yaml:5: step `p` adds a step `p-a`, but a step of this name already exists',
    ]);
  });
});
