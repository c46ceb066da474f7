import { describe, expect, it } from 'vitest';
import { createPlan, type Json, parsePipeline, planLevels } from '../../src/index.ts';
import { expandMatrix } from '../../src/plan/expand-matrix.ts';
import { planOf } from './plan-of.ts';

function expand(
  axes: Readonly<Record<string, Json[]>>,
  rest: { include?: Record<string, Json>[]; exclude?: Record<string, Json>[] } = {},
) {
  const cells = expandMatrix({ axes, include: rest.include ?? [], exclude: rest.exclude ?? [] });
  if (!cells.ok) throw new Error(cells.error);
  return cells.value;
}

describe('an axis over files', () => {
  const parsed = parsePipeline({
    file: 'p.yaml',
    text: 'version: 1\nname: p\nvolumes: { raw: { source: ./raw } }\naxes: { file: { items: { files: "volumes.raw/**" } } }\nsteps: { a: { each: file, inputs: { raw: volumes.raw }, command: [a] } }\n',
  });
  if (!parsed.ok) throw new Error(parsed.error[0]!.message);
  const plan = (files?: readonly string[]) =>
    createPlan(parsed.value.pipeline, files === undefined ? {} : { files: { file: files } });

  it('has the given files as items, each with the stem of its name as key', () => {
    const planned = plan(['lanes/S1.fastq.gz', 'x']);
    expect(planned.ok ? planned.value.axes?.file : planned.error).toMatchObject({
      keys: ['S1', 'x'],
      items: [
        { path: 'lanes/S1.fastq.gz', name: 'S1.fastq.gz', stem: 'S1', id: 'lanes-S1' },
        { path: 'x', name: 'x', stem: 'x', id: 'x' },
      ],
    });
  });

  it('names the files whose stems are equal or no keys, and says what to do', () => {
    const clash = plan(['a/S1.gz', 'b/S1.gz']);
    expect(!clash.ok && clash.error[0]?.message).toBe(
      'axis `file`: files `a/S1.gz` and `b/S1.gz` have the same key `S1`; `key: ${{ item.id }}` takes the path instead of the name',
    );
    const bad = plan(['a b.gz']);
    expect(!bad.ok && bad.error[0]?.message).toContain('the key of file `a b.gz` is "a b"');
  });

  it('is planned only where the files are known', () => {
    const planned = plan();
    expect(!planned.ok && planned.error[0]?.message).toContain('are not known here');
  });
});

describe('expandMatrix', () => {
  it('expandMatrix turns the last axis fastest and names cells by their values', () => {
    expect(expand({ model: ['knn', 'Tree A'], k: [1, 0.5] }).map(({ key }) => key)).toEqual([
      'model-knn-k-1',
      'model-knn-k-0p5',
      'model-tree-a-k-1',
      'model-tree-a-k-0p5',
    ]);
  });

  it('expandMatrix gives every cell a key of its own, of letters, digits and hyphens, whatever the values are', () => {
    const [first = ''] = expand({ a: ['x y', 'x-y'] }).map(({ key }) => key);
    // What the first two are made into by their hash is the plain name of the third.
    const values = ['x y', 'x-y', first.slice(2), 'X Y', 'x-y', 1e21, -1e-7, -0, 0, '', '日本', null, 'null', [], {}];
    const keys = expand({ a: values }).map(({ key }) => key);
    expect(new Set(keys).size).toBe(values.length);
    for (const key of keys) expect(key).toMatch(/^[a-z0-9-]{1,63}$/);
  });

  it('expandMatrix rejects what would take minutes or more text than a plan may have', () => {
    const error = (axes: Readonly<Record<string, Json[]>>, include: Record<string, Json>[] = []) => {
      const cells = expandMatrix({ axes, include, exclude: [] });
      return cells.ok ? undefined : cells.error;
    };
    const numbers = Array.from({ length: 300 }, (_, at) => at);
    const words = Array.from({ length: 30 }, () => 'x'.repeat(100_000));
    expect(error({ a: numbers, b: numbers })).toBeUndefined();
    expect(error({ a: numbers, b: numbers }, Array(1000).fill({ c: 1 }))).toContain('too many to compare');
    expect(error({ a: numbers, b: words })).toContain('too long for its 9000 cells');
    expect(error(Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`a${at}`, [1]])))).toContain('101 axes');
  });

  it('expandMatrix includes as GitHub Actions documents it', () => {
    // The example of its documentation: fruit and animal.
    const cells = expand(
      { fruit: ['apple', 'pear'], animal: ['cat', 'dog'] },
      {
        include: [
          { color: 'green' },
          { color: 'pink', animal: 'cat' },
          { fruit: 'apple', shape: 'circle' },
          { fruit: 'banana' },
          { fruit: 'banana', animal: 'cat' },
        ],
      },
    );
    expect(cells.map(({ matrix }) => matrix)).toEqual([
      { fruit: 'apple', animal: 'cat', color: 'pink', shape: 'circle' },
      { fruit: 'apple', animal: 'dog', color: 'green', shape: 'circle' },
      { fruit: 'pear', animal: 'cat', color: 'pink' },
      { fruit: 'pear', animal: 'dog', color: 'green' },
      { fruit: 'banana' },
      { fruit: 'banana', animal: 'cat' },
    ]);
  });

  it('expandMatrix excludes what agrees with an entry in part', () => {
    expect(
      expand({ a: [1, 2], b: [1, 2] }, { exclude: [{ a: 1 }, { a: 2, b: 2 }] }).map(({ matrix }) => matrix),
    ).toEqual([{ a: 2, b: 1 }]);
  });

  it('expandMatrix keeps keys unique and independent of order', () => {
    const values = ['a b', 'a-b', { x: 1 }, [1], '', 'é', '1', 1, -1, true, 'x'.repeat(300)];
    const forward = new Map(expand({ v: values }).map(({ key, matrix }) => [JSON.stringify(matrix), key]));
    const backward = new Map(
      expand({ v: [...values].reverse() }).map(({ key, matrix }) => [JSON.stringify(matrix), key]),
    );
    expect(new Set(forward.values()).size).toBe(values.length);
    for (const [matrix, key] of forward) {
      expect(backward.get(matrix)).toBe(key);
      expect(key).toMatch(/^[a-z0-9-]{1,63}$/);
    }
  });

  it('expandMatrix rejects more cells than a step may have, without making them', () => {
    const axis = Array.from({ length: 1000 }, (_, index) => index);
    expect(expandMatrix({ axes: { a: axis, b: axis, c: axis }, include: [], exclude: [] })).toEqual({
      ok: false,
      error: 'the matrix has 1000000000 cells; the maximum is 100000',
    });
  });
});

describe('createPlan', () => {
  it('createPlan converts texts to the types of their parameters and reports every fault', () => {
    const parsed = parsePipeline({
      file: 'p.yaml',
      text: `version: 1
name: demo
params: { n: 1, r: { type: number, maximum: 2 }, s: x, l: [1], m: { enum: [a, b], default: a }, need: { type: string } }
steps: { one: { command: [x] } }
`,
    });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
    const bind = (params: Readonly<Record<string, Json>>) => createPlan(parsed.value.pipeline, { params });
    const good = bind({ n: '3', r: '1', s: '3', l: '[2, 3]', need: 'y' });
    expect(good.ok && good.value.params).toEqual({ n: 3, r: 1, s: '3', l: [2, 3], m: 'a', need: 'y' });
    const bad = bind({ n: '3.5', r: 3, m: 'c', seed: 1 });
    expect(bad.ok ? [] : bad.error.map(({ code, message }) => `${code} ${message}`)).toEqual([
      'unknown-param pipeline `demo` has no parameter `seed`',
      'bad-param parameter `n` is "3.5", which is not of type integer',
      'bad-param parameter `r` is 3, above its maximum of 2',
      'bad-param parameter `m` is "c" instead of one of "a", "b"',
      'missing-param parameter `need` has no value and no default',
    ]);
  });

  it('createPlan joins data edges, needs and the steps that expressions name', () => {
    const plan = planOf(`
steps:
  a: { command: [x], outputs: { o: /o }, results: { n: integer } }
  b: { command: [x, "\${{ steps.a.results.n }}"] }
  c: { command: [x], inputs: { o: a.o }, needs: { b: completed } }
  d: { command: [x], when: "\${{ steps.b.status == 'failed' }}" }
  s: { command: [x], service: true, ports: { http: {} } }
  e: { command: [x, "\${{ steps.s.ports.http.url }}"] }
finally:
  f: { command: [x, "\${{ steps.c.status }}"] }
`);
    const edges = plan.steps.map(({ step, dependencies, final }) => [
      step.name,
      final,
      dependencies.map(({ on, condition, data }) => `${plan.steps[on]?.step.name} ${condition}${data ? ' data' : ''}`),
    ]);
    expect(edges).toEqual([
      ['a', false, []],
      ['b', false, ['a succeeded']],
      ['c', false, ['a succeeded data', 'b completed']],
      ['d', false, ['b completed']],
      ['s', false, []],
      ['e', false, ['s running']],
      ['f', true, ['c completed']],
    ]);
    expect(planLevels(plan)).toEqual([0, 1, 2, 2, 0, 1, 3]);
  });

  it('createPlan rejects an axis that a parameter leaves empty, and names what takes an empty list', () => {
    const text = `version: 1\nname: p\nparams: { xs: [1] }\nsteps:\n  a: { command: [x], matrix: { x: "\${{ params.xs }}", y: [1] } }\n`;
    const parsed = parsePipeline({ file: 'p.yaml', text });
    const planned = parsed.ok ? createPlan(parsed.value.pipeline, { params: { xs: '[]' } }) : parsed;
    const message = 'step `a`: axis `x` of its matrix is an empty list; use `foreach` for a list that may be empty';
    expect(planned).toMatchObject({ ok: false, error: [{ code: 'bad-matrix', message }] });
  });

  it('createPlan expands a matrix from parameters and leaves a foreach open', () => {
    const plan = planOf(
      'params: { seeds: [1, 2] }\nsteps:\n  a: { command: [x], matrix: { seed: "${{ params.seeds.map(s, s * 10) }}" } }\n  b: { command: [x], foreach: "${{ params.seeds }}" }\n',
      { seeds: '[5]' },
    );
    expect(plan.steps[0]?.cells).toEqual([{ key: 'seed-50', matrix: { seed: 50 } }]);
    expect(plan.steps[1]?.cells).toBeUndefined();
  });

  it('createPlan survives a chain of 50,000 steps', () => {
    const steps = Object.fromEntries(
      Array.from({ length: 50_000 }, (_, index) => [
        `s${index}`,
        { command: ['x'], needs: index === 0 ? [] : [`s${index - 1}`] },
      ]),
    );
    const parsed = parsePipeline({ file: 'p.json', text: JSON.stringify({ version: 1, name: 'chain', steps }) });
    const plan = parsed.ok ? createPlan(parsed.value.pipeline) : undefined;
    expect(plan?.ok && planLevels(plan.value).at(-1)).toBe(49_999);
  });

  it('createPlan gives plain JSON', () => {
    const plan = planOf('steps:\n  a: { command: [x], matrix: { v: [1, { a: b }] }, cache: true }\n');
    expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
  });
});
