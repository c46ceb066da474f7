import { describe, expect, it } from 'vitest';
import { createPlan, fail, type Json, ok, type Plan, parsePipeline, resolveContainer } from '../../src/index.ts';
import { resolveDecision } from '../../src/resolve/resolve-decision.ts';

interface Given {
  readonly params?: Readonly<Record<string, Json>>;
  readonly results?: Readonly<Record<string, Json>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly name?: string;
}

/** The last word of the command of each cell of the last step, in a plan as a run stores it. */
function wordsOf(text: string, { params = {}, results = {}, files = {}, name = 'p.yaml' }: Given = {}): unknown {
  const read = (path: string) => (files[path] === undefined ? fail('there is no such file') : ok(files[path]));
  const parsed = parsePipeline({ file: name, text, read });
  if (!parsed.ok) return parsed.error.map(({ message }) => message);
  const planned = createPlan(parsed.value.pipeline, { params });
  if (!planned.ok) return planned.error.map(({ message }) => message);
  const plan = JSON.parse(JSON.stringify(planned.value)) as Plan;
  const facts = { status: 'succeeded' as const, results };
  const context = { run: { id: 'r', name: 'p', plannedTime: '' }, attempt: 1, steps: () => facts };
  const { index, cells } = plan.steps.at(-1)!;
  const decision = resolveDecision(plan, index, context);
  if (!decision.ok) return decision.error;
  const stored = JSON.parse(JSON.stringify(cells ?? decision.value.cells)) as NonNullable<typeof cells>;
  return stored.map((cell) => {
    const container = resolveContainer(plan, index, { cell, context });
    return container.ok ? container.value.command?.at(-1) : container.error;
  });
}

/** A pipeline whose step `s` prints one word. */
const pipeline = (params: string, word: string, rest = ''): string =>
  `version: 1\nname: p\nparams: ${params}\nsteps:\n  a: { command: [x], results: { loss: number, list: array, ints: array } }\n  s:\n    command: [x, "\${{ ${word} }}"]\n${rest === '' ? '' : `    ${rest}\n`}`;

describe('types of numbers', () => {
  it.each([
    ['the results of the cells of a step', '{}', 'item / 4', 'foreach: ${{ steps.a.results.loss }}', ['0.25', '0.5']],
    ['a computed list', '{ l: [0.5, 1.0] }', 'item / 4', 'foreach: ${{ params.l.map(r, r * 2) }}', ['0.25', '0.5']],
    [
      'a computed list in a matrix',
      '{ l: [0.5, 1.0] }',
      'matrix.r / 4',
      'matrix: { r: "${{ params.l.map(r, r * 2) }}" }',
      ['0.25', '0.5'],
    ],
    [
      'a number in an axis',
      '{ r: { type: number, default: 1 } }',
      'matrix.r / 4',
      'matrix: { r: ["${{ params.r }}"] }',
      ['0.25'],
    ],
    [
      'a number in a literal list',
      '{ r: 1.0 }',
      'item.r / 4',
      'foreach: [{ r: "${{ params.r }}" }, { r: 2 }]',
      ['0.25', '0.5'],
    ],
    [
      'a number in `include`',
      '{ r: 1.0 }',
      'matrix.r / 4',
      'matrix: { k: [1], include: [{ r: "${{ params.r }}" }] }',
      ['0.25'],
    ],
    [
      'a computed map',
      '{ r: 1.0 }',
      'item.n / 2 + int(item.r / 4 * 4)',
      "foreach: \"${{ [{'n': 5, 'r': params.r}] }}\"",
      ['3'],
    ],
    ['integers', '{ l: [2, 3] }', 'item / 2', 'foreach: ${{ params.l.map(r, r * 1) }}', ['1', '1']],
    ['integers of a result', '{}', 'item / 2', 'foreach: ${{ steps.a.results.ints }}', ['1', '1']],
  ])('expressions pass the types of numbers on to cells: %s', (_, params, word, rest, words) => {
    const results = { loss: [1, 2], ints: [2, 3] };
    expect(wordsOf(pipeline(params, word, rest), { results })).toEqual(words);
  });

  it.each([
    ['in a list', '{ l: [1.0, 2.0] }', 'params.l.map(r, r / 4)', '', ['[0.25,0.5]']],
    ['in one place of a list', '{ l: [1, 2.0] }', 'params.l.map(r, r / 4)', '', ['[0.25,0.5]']],
    ['in a map', '{ o: { lr: 1.0, n: 7, eps: 0.5 } }', 'params.o.lr / 4 + params.o.n / 2', '', ['3.25']],
    [
      'in maps of a list',
      '{ l: [{ lr: 1.0, n: 7 }, { lr: 2, n: 7 }] }',
      'params.l.map(m, m.lr / 4 + m.n / 2)',
      '',
      ['[3.25,3.5]'],
    ],
    ['in the long form', '{ l: { type: array, default: [1e0, 2.] } }', 'params.l.map(r, r / 4)', '', ['[0.25,0.5]']],
    ['in an axis', '{}', 'matrix.lr / 4', 'matrix: { lr: [1.0, 10.0] }', ['0.25', '2.5']],
    ['in `include`', '{}', 'matrix.lr / 4', 'matrix: { k: [7], include: [{ lr: 1.0 }] }', ['0.25']],
    ['in `foreach`', '{}', 'item / 4', 'foreach: [1.0, -2.0]', ['0.25', '-0.5']],
    [
      'in maps of `foreach.items`',
      '{}',
      'item.lr / 4',
      'foreach: { items: [{ lr: 1.0 }, { lr: 2 }], key: "k-${{ item.lr }}" }',
      ['0.25', '0.5'],
    ],
    ['behind an alias', '{ a: &l [1.0, 2.0], r: &r 1.0, s: *r, b: *l }', 'params.b[0] / 4 + params.s / 4', '', ['0.5']],
    ['integers', '{ l: [2, 3], f: 1.0 }', 'item / 2 + matrixless', 'foreach: [2, 3]', ['unknown name `matrixless`']],
    ['integers beside them', '{ l: [2, 3], f: 1.0 }', 'item / 2 + params.l[1] / 2', 'foreach: [2, 3]', ['2', '2']],
  ])('a whole number that is written as a double is one: %s', (_, params, word, rest, words) => {
    expect(wordsOf(pipeline(params, word, rest))).toEqual(words);
  });

  it('a whole number that is written as a double is one in JSON, in `defaults` and in a step file', () => {
    const file = {
      ...{ version: 1, name: 'p', params: { l: [1, 2], o: { k: [3] } } },
      steps: { s: { command: ['x', '${{ item / 4 + params.l[0] / 4 + params.o.k[0] / 2 }}'], foreach: [5, 6] } },
    };
    const text = JSON.stringify(file).replace('[1,2]', '[1.0, 2.0]').replace('[5,6]', '[5.0, 6]');
    expect(wordsOf(text, { name: 'p.json' })).toEqual(['2.5', '2.75']);
    const yaml =
      'version: 1\nname: p\ndefaults: { matrix: { r: [1.0, 2.0] } }\nsteps: { s: { command: [x, "${{ matrix.r / 4 }}"] } }\n';
    expect(wordsOf(yaml)).toEqual(['0.25', '0.5']);
    const files = {
      'u.yaml': 'params: { l: [1.0, 3.0] }\nforeach: [1.0]\ncommand: [x, "${{ item / 4 + params.l[1] / 4 }}"]\n',
    };
    expect(wordsOf('version: 1\nname: p\nsteps: { s: { uses: u.yaml } }\n', { files })).toEqual(['1']);
  });

  it.each<[string, string, string, Json, string]>([
    ['a list like its default', '[0.5, 1.0, 2.0]', 'params.l.map(r, r / 4)', '[1,3]', '[0.25,0.75]'],
    ['a list like its written default', '[1.0, 2.0]', 'params.l.map(r, r / 4)', [1, 3], '[0.25,0.75]'],
    ['a map like its default', '{ lr: 0.1, n: 1 }', 'params.l.lr / 4 + params.l.n / 2', '{"lr": 1, "n": 3}', '1.25'],
    ['its own text', '[1, 2]', 'params.l.map(r, r / 4)', '[1.0, 3]', '[0.25,0.75]'],
    ['its own text, without a default', '{ type: array }', 'params.l.map(r, r / 4)', '[1e0, 3]', '[0.25,0.75]'],
    ['its own integers', '[1, 2]', 'params.l.map(r, r / 2)', '[2, 3]', '[1,1]'],
    ['its allowed values', '{ enum: [[1.0], [2.0]] , type: array }', 'params.l[0] / 4', '[1]', '0.25'],
    ['its allowed numbers', '{ enum: [1.0, 2.0] }', 'params.l / 4', '1', '0.25'],
  ])('the value of a parameter for one run has the types of %s', (_, param, word, value, result) => {
    expect(wordsOf(pipeline(`{ l: ${param} }`, word), { params: { l: value } })).toEqual([result]);
  });

  it.each([
    ['its default', '[1.0, 2.0]', '', '[0.25,0.5]'],
    ['the numbers in `with`', '[7]', ', with: { l: [1.0, 2] }', '[0.25,0.5]'],
    ['its default instead of integers in `with`', '[0.5]', ', with: { l: [1, 2] }', '[0.25,0.5]'],
    ['its default instead of those of an expression', '[0.5]', ', with: { l: "${{ params.ints }}" }', '[0.25,0.5]'],
    [
      'its default for a part that is an expression',
      '[0.5]',
      ', with: { l: [1, "${{ params.ints[1] }}"] }',
      '[0.25,0.5]',
    ],
    ['its text in `with`', '[7]', ', with: { l: "[1.0, 2]" }', '[0.25,0.5]'],
    ['an expression', '[7]', ', with: { l: "${{ params.doubles }}" }', '[0.25,0.5]'],
    ['integers', '[7]', ', with: { l: [5, 6] }', '[1,1]'],
  ])('a parameter of a used file has the types of %s', (_, preset, given, result) => {
    const params = `params: { l: ${preset} }`;
    const word = 'command: [x, "${{ params.l.map(r, r / 4) }}"]';
    const files = {
      'pipeline.yaml': `version: 1\nname: u\n${params}\nsteps:\n  s: { ${word} }\n`,
      'step.yaml': `${params}\n${word}\n`,
    };
    const results = Object.keys(files).map((file) =>
      wordsOf(
        `version: 1\nname: p\nparams: { ints: [1, 2], doubles: [1.0, 2.0] }\nsteps: { u: { uses: ${file}${given} } }\n`,
        { files },
      ),
    );
    expect(results).toEqual([[result], [result]]);
  });

  it('a list whose types a default gives is converted once per evaluation, not in every iteration', () => {
    const files = {
      'u.yaml': 'params: { l: [0.5] }\ncommand: [x, "${{ size(params.l.map(x, params.l[0] + params.l[1] + x)) }}"]\n',
    };
    const list = Array.from({ length: 20_000 }, (_, index) => index);
    const text =
      'version: 1\nname: p\nparams: { l: { type: array } }\nsteps: { u: { uses: u.yaml, with: { l: "${{ params.l }}" } } }\n';
    const before = performance.now();
    expect(wordsOf(text, { files, params: { l: list } })).toEqual(['20000']);
    // Otherwise, it would take minutes.
    expect(performance.now() - before).toBeLessThan(20_000);
  });

  it('a double prints as before, and the keys of its cells do not change', () => {
    const text = pipeline('{ l: [1.0, 2.5] }', 'item', 'foreach: [1.0, 2.5]').replace('}}"]', '}} ${{ params.l }}"]');
    expect(wordsOf(text)).toEqual(['1 [1,2.5]', '2.5 [1,2.5]']);
    const parsed = parsePipeline({ file: 'p.yaml', text: pipeline('{}', '1', 'matrix: { r: [1.0, 10.0] }') });
    const plan = parsed.ok ? createPlan(parsed.value.pipeline) : parsed;
    expect(plan.ok && plan.value.steps.at(-1)?.cells?.map(({ key, matrix }) => [key, matrix])).toEqual([
      ['r-1', { r: 1 }],
      ['r-10', { r: 10 }],
    ]);
  });
});
