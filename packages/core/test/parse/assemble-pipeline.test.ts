import { describe, expect, it } from 'vitest';
import {
  createPlan,
  type Diagnostic,
  fail,
  ok,
  type Pipeline,
  parsePipeline,
  type Result,
  resolveContainer,
} from '../../src/index.ts';

function parse(files: Readonly<Record<string, string>>): Result<Pipeline, readonly Diagnostic[]> {
  const parsed = parsePipeline({
    file: 'main.yaml',
    text: files['main.yaml'] ?? '',
    read: (path) => (files[path] === undefined ? fail('there is no such file') : ok(files[path])),
  });
  return parsed.ok ? ok(parsed.value.pipeline) : parsed;
}

function places(result: Result<Pipeline, readonly Diagnostic[]>): string[] {
  if (result.ok) return [];
  return result.error.map(({ code, range }) => `${range?.file}:${range?.line}:${range?.column} ${code}`);
}

const MAIN = 'version: 1\nname: main\n';

describe('include', () => {
  it('parsePipeline joins steps, params and secrets of included files, also of those that they include', () => {
    const result = parse({
      'main.yaml': `${MAIN}include: parts/a.yaml\nsteps:\n  last: { command: [x, "\${{ params.n }}"], needs: [one, two] }\n`,
      'parts/a.yaml': 'include: [b.yaml]\nparams: { n: 3 }\nsecrets: [TOKEN]\nsteps:\n  one: { command: [x] }\n',
      'parts/b.yaml': 'steps:\n  two: { command: [x], secrets: [TOKEN] }\n',
    });
    expect(places(result)).toEqual([]);
    if (result.ok) expect(result.value.steps.map(({ name }) => name).sort()).toEqual(['last', 'one', 'two']);
  });

  it('parsePipeline places faults in the file where they stand', () => {
    const result = parse({
      'main.yaml': `${MAIN}include: [a.yaml, gone.yaml]\nsteps:\n  one: { command: [x], needs: [nothing] }\n`,
      'a.yaml': 'schedule: { cron: "* * * * *" }\nsteps:\n  one: { command: [y] }\n  two: { comand: [y] }\n',
    });
    expect(places(result)).toEqual([
      'main.yaml:3:19 unreadable-file',
      'main.yaml:5:32 unknown-step',
      'a.yaml:1:1 bad-include',
      'a.yaml:3:3 duplicate-key',
      'a.yaml:4:10 unknown-key',
    ]);
  });
});

const SUB = `version: 1
name: sub
params: { size: { type: integer }, rate: { type: number, default: 2 } }
env: { LEVEL: "\${{ params.size }}" }
volumes: { raw: {}, code: { source: ./code }, data: { source: { path: ./data, exclude: [x] } } }
steps:
  load:
    command: [load, "--size=\${{ params.size }}", "\${{ params.rate }}"]
    inputs: { raw: volumes.raw/part, code: volumes.code, data: volumes.data }
    outputs: { data: /out }
    results: { rows: integer }
  train:
    command: [train, "\${{ steps.load.results.rows + params.size }}"]
    inputs: { data: load.data }
    outputs: { model: /model }
    when: \${{ steps.load.results.rows > 0 }}
finally:
  tidy: { command: [tidy] }
outputs:
  model: train.model
`;

describe('uses', () => {
  it('parsePipeline keeps which steps a used pipeline has added, also those that it uses itself', () => {
    const result = parse({
      'main.yaml': `${MAIN}steps:\n  big: { uses: a.yaml }\n  own: { command: [x] }\n  one: { uses: step.yaml }\n`,
      'a.yaml':
        'version: 1\nname: a\nsteps:\n  load: { command: [x] }\n  fit: { uses: b.yaml }\nfinally:\n  end: { command: [x] }\n',
      'b.yaml': 'version: 1\nname: b\nsteps:\n  train: { command: [x] }\n',
      'step.yaml': 'command: [x]\n',
    });
    expect(places(result)).toEqual([]);
    if (result.ok) expect(result.value.used).toEqual({ big: ['big-load', 'big-fit-train'] });
  });

  it("parsePipeline gives the results, outputs, ports and status of a used pipeline under its step's name", () => {
    const result = parse({
      'main.yaml': `${MAIN}steps:
  sub: { uses: sub.yaml }
  use:
    when: \${{ steps.sub.results.rows > 0 && steps.sub.status == 'succeeded' }}
    command: [x, "\${{ steps['sub'].results.all[0] }}", "\${{ steps.sub.outputs.data }}", "\${{ steps.sub.ports.http.url }}"]
`,
      'sub.yaml': `version: 1
name: sub
steps:
  web: { command: [x], ports: { http: {} }, service: true }
  load: { command: [x], needs: [web], outputs: { out: /o }, results: { rows: integer, list: array } }
outputs: { data: load.out }
results: { rows: load.rows, all: load.list }
`,
    });
    expect(places(result)).toEqual([]);
    const use = result.ok ? result.value.steps.find(({ name }) => name === 'use') : undefined;
    expect(use?.when).toBe(
      '${{ steps["sub-load"]["results"]["rows"] > 0 && steps["sub-load"]["status"] == \'succeeded\' }}',
    );
    expect(use?.command?.slice(1)).toEqual([
      '${{ steps["sub-load"]["results"]["list"][0] }}',
      '${{ steps["sub-load"]["outputs"]["out"] }}',
      '${{ steps["sub-web"]["ports"]["http"]["url"] }}',
    ]);
  });

  it.each([
    ["has(params.cfg.y) ? 'yes' : 'no'", 'no'],
    ["has(params.cfg.x) ? 'yes' : 'no'", 'yes'],
    ['has(params.cfg) && params.cfg.x == 1', true],
    ['has(params.cfg.deep.z) && !has(params.cfg.deep.q)', true],
    ['[1, 2].exists(it, it == 2 && has(params.cfg.x))', true],
    ['has(steps.first.results.r)', true],
  ])('a file that is right alone is right when it is used: %s', (expression, value) => {
    const body = `params: { cfg: { x: 1, deep: { z: 2 } } }`;
    const first = 'first: { command: [x], results: { r: integer } }';
    const alone = parse({
      'main.yaml': `${MAIN}${body}\nsteps:\n  ${first}\n  s: { command: ["\${{ ${expression} }}"] }\n`,
    });
    const used = parse({
      'main.yaml': `${MAIN}steps:\n  sub: { uses: sub.yaml, with: { cfg: { x: 1, deep: { z: "\${{ 1 + 1 }}" } } } }\n`,
      'sub.yaml': `version: 1\nname: sub\n${body}\nsteps:\n  ${first}\n  s: { command: ["\${{ ${expression} }}"] }\n`,
    });
    for (const result of [alone, used]) {
      if (!result.ok) throw new Error(JSON.stringify(result.error));
      const plan = createPlan(result.value, {});
      if (!plan.ok) throw new Error(JSON.stringify(plan.error));
      const container = resolveContainer(plan.value, 1, {
        cell: { key: '', matrix: {} },
        context: {
          run: { id: 'r', name: 'n', plannedTime: '' },
          attempt: 1,
          steps: () => ({ status: 'succeeded', results: { r: 1 } }),
        },
      });
      expect(container).toMatchObject({ ok: true, value: { command: [String(value)] } });
    }
  });

  it('parsePipeline says what a used pipeline does not have, or has twice', () => {
    const result = parse({
      'main.yaml': `${MAIN}steps:
  sub: { uses: sub.yaml }
  use: { command: [x, "\${{ steps.sub.results.rowz }}", "\${{ steps.sub.ports.both.url }}", "\${{ steps.sub.status }}"] }
`,
      'sub.yaml': `version: 1
name: sub
steps:
  a: { command: [x], results: { rows: integer }, ports: { both: {} }, service: true }
  b: { command: [x], ports: { both: {} }, service: true }
results: { rows: a.rows }
`,
    });
    expect(places(result)).toEqual([
      'main.yaml:5:23 unknown-result',
      'main.yaml:5:56 unknown-port',
      'main.yaml:5:91 unknown-name',
    ]);
    if (!result.ok) {
      expect(result.error.map(({ message }) => message)).toEqual([
        'the pipeline that step `sub` uses declares no result `rowz`',
        'the pipeline that step `sub` uses has more than one port `both`: of the steps sub-a, sub-b',
        'the pipeline that step `sub` uses has more than one last step, sub-a and sub-b, so it has no status of its own',
      ]);
    }
  });

  it('parsePipeline says how a used pipeline declares the result of a step', () => {
    const result = parse({
      'main.yaml': `${MAIN}steps:
  sub: { uses: sub.yaml }
  use: { command: [x, "\${{ steps.sub.results.rows }}", "\${{ steps.sub.results.total }}"] }
results: { rows: sub.rows, all: sub.all }
`,
      'sub.yaml': `version: 1
name: sub
steps:
  count: { command: [x], results: { rows: integer, sum: integer } }
results: { total: count.sum }
`,
    });
    expect(places(result)).toEqual([
      'main.yaml:5:23 unknown-result',
      'main.yaml:6:18 unknown-result',
      'main.yaml:6:33 unknown-result',
    ]);
    if (!result.ok) {
      const undeclared = 'the pipeline that step `sub` uses declares no result';
      const hint = 'add `results: { rows: count.rows }` to the top level of its file';
      expect(result.error).toMatchObject([
        { message: `${undeclared} \`rows\``, hint },
        { message: `${undeclared} \`rows\``, hint },
        { message: `${undeclared} \`all\``, hint: 'there is `total`' },
      ]);
    }
  });

  it('parsePipeline makes the steps of a used pipeline its own, named after the step that uses it', () => {
    const result = parse({
      'main.yaml': `${MAIN}volumes: { all: { source: ./data } }
params: { n: 4 }
steps:
  before: { command: [x] }
  sub:
    uses: lib/sub.yaml
    with: { size: "\${{ params.n * 2 }}" }
    inputs: { raw: volumes.all }
    needs: [before]
    when: \${{ params.n > 1 }}
  after: { command: [y], inputs: { model: sub.model } }
  later: { command: [z], needs: [sub] }
outputs: { best: { from: sub.model, publish: ./out } }
`,
      'lib/sub.yaml': SUB,
    });
    expect(places(result)).toEqual([]);
    if (!result.ok) return;
    const { steps, volumes, outputs } = result.value;
    const step = (name: string) => steps.find((candidate) => candidate.name === name);
    expect(steps.map(({ name }) => name)).toEqual(['before', 'sub-load', 'sub-train', 'after', 'later']);
    expect(result.value.finally.map(({ name }) => name)).toEqual(['sub-tidy']);
    expect(volumes['sub-code']).toEqual({ source: 'lib/code', retain: true });
    expect(volumes['sub-data']).toEqual({ source: 'lib/data', exclude: ['x'], retain: true });
    expect(step('sub-load')?.command).toEqual(['load', '--size=${{ (params.n * 2) }}', '${{ 2.0 }}']);
    expect(step('sub-load')?.inputs.raw?.from).toEqual({ volume: 'all', path: 'part' });
    expect(step('sub-load')?.needs).toEqual([{ step: 'before', condition: 'succeeded' }]);
    expect(step('sub-load')?.env).toEqual({ LEVEL: '${{ (params.n * 2) }}' });
    expect(step('sub-train')?.command?.[1]).toBe('${{ steps["sub-load"]["results"]["rows"] + (params.n * 2) }}');
    expect(step('sub-train')?.when).toBe('${{ (params.n > 1) && (steps["sub-load"]["results"]["rows"] > 0) }}');
    expect(step('after')?.inputs.model?.from).toEqual({ step: 'sub-train', output: 'model' });
    expect(step('later')?.needs).toEqual([{ step: 'sub-train', condition: 'succeeded' }]);
    expect(outputs.best?.from).toEqual({ step: 'sub-train', output: 'model' });
    expect(createPlan(result.value).ok).toBe(true);
  });

  it('parsePipeline lends the keys of a step file, under the keys of the step itself', () => {
    const result = parse({
      'main.yaml': `${MAIN}steps:\n  fit: { uses: fit.yaml, with: { seed: 7 }, env: { A: "2" }, timeout: 1m }\n`,
      'fit.yaml':
        'params: { seed: { type: integer } }\ncommand: [fit, "${{ params.seed }}"]\nenv: { A: "1", B: "1" }\ntimeout: 2h\n',
    });
    expect(places(result)).toEqual([]);
    if (result.ok)
      expect(result.value.steps[0]).toMatchObject({
        command: ['fit', '${{ 7 }}'],
        env: { A: '2', B: '1' },
        timeoutMs: 60_000,
      });
  });

  it('parsePipeline reports faults of the use and of the used file where they stand', () => {
    const result = parse({
      'main.yaml': `${MAIN}steps:
  a: { uses: sub.yaml, with: { sizes: 1 }, image: x }
  b: { uses: gone.yaml }
  c: { uses: broken.yaml }
  d: { command: [x], inputs: { m: a.modle, n: c.anything } }
  e: { uses: sub.yaml, with: { size: big } }
`,
      'sub.yaml': SUB.replace('volumes.raw/part', 'volumes.raw'),
      'broken.yaml': 'version: 1\nname: broken\nsteps:\n  one: { comand: [x] }\n',
    });
    expect(places(result)).toEqual([
      'main.yaml:4:8 missing-param',
      'main.yaml:4:32 unknown-param',
      'main.yaml:4:44 conflicting-keys',
      'main.yaml:5:14 unreadable-file',
      'main.yaml:7:35 unknown-output',
      'main.yaml:8:38 bad-param',
      'broken.yaml:4:10 unknown-key',
    ]);
  });

  it('parsePipeline hands a secret on by its name, and a whole number as the number that is declared', () => {
    const result = parse({
      'main.yaml': `${MAIN}secrets: [T]\nparams: { k: 3 }\nsteps:\n  a: { uses: s.yaml, with: { token: "\${{ secrets.T }}", n: "\${{ params.k }}" } }\n`,
      's.yaml': `params: { token: { type: string }, n: { type: number } }\ncommand: [x]\nenv: { TOKEN: "\${{ params.token }}" }\nmatrix: { half: ["\${{ params.n / 2 }}"] }\n`,
    });
    expect(places(result)).toEqual([]);
    if (!result.ok) return;
    expect(result.value.steps[0]?.env.TOKEN).toBe('${{ secrets.T }}');
    const plan = createPlan(result.value);
    expect(plan.ok && plan.value.steps[0]?.cells?.[0]?.matrix).toEqual({ half: 1.5 });
  });

  it('parsePipeline keeps the clusters that a used pipeline is for', () => {
    const result = parse({
      'main.yaml': `${MAIN}placement: { cluster: west }\nsteps:\n  a: { uses: s.yaml }\n  b: { command: [x] }\n`,
      's.yaml': `${MAIN}placement: { cluster: east }\nsteps:\n  c: { command: [x] }\n  d: { command: [x], placement: { cluster: north } }\n`,
    });
    expect(result.ok && result.value.steps.map(({ name, placement }) => [name, placement?.cluster])).toEqual([
      ['a-c', 'east'],
      ['a-d', 'north'],
      ['b', undefined],
    ]);
  });

  it('parsePipeline rejects a file that uses itself', () => {
    const result = parse({
      'main.yaml': `${MAIN}steps:\n  a: { uses: other.yaml }\n`,
      'other.yaml': `${MAIN}steps:\n  b: { uses: main.yaml }\n`,
    });
    expect(places(result)).toEqual(['other.yaml:4:14 cycle']);
  });

  it.each([
    ['a: { uses: other.yaml }', 'a-b: { command: [x] }'],
    ['a-b: { command: [x] }', 'a: { uses: other.yaml }'],
  ])('parsePipeline rejects a used step that would take the name of another one: %s, %s', (...steps) => {
    const result = parse({
      'main.yaml': `${MAIN}steps:\n  ${steps.join('\n  ')}\n`,
      'other.yaml': `${MAIN}steps:\n  b: { command: [y] }\n`,
    });
    expect(result.ok ? [] : result.error.map(({ message }) => message)).toEqual([
      'step `a` adds a step `a-b`, but a step of this name already exists',
    ]);
  });

  it('parsePipeline rejects a used volume or final step that would take the name of another one', () => {
    const result = parse({
      'main.yaml': `${MAIN}volumes: { a-v: { id: other } }\nsteps:\n  a: { uses: other.yaml }\n  b: { command: [x], inputs: { v: volumes.a-v } }\nfinally:\n  a-c: { command: [own] }\n`,
      'other.yaml': `${MAIN}volumes: { v: {} }\nsteps:\n  b: { command: [y], inputs: { v: volumes.v } }\nfinally:\n  c: { command: [theirs] }\n`,
    });
    expect(result.ok ? [] : result.error.map(({ message }) => message)).toEqual([
      'step `a` adds a volume `a-v`, but a volume of this name already exists',
      'step `a` adds a step `a-c`, but a step of this name already exists',
    ]);
    expect(places(result)).toEqual(['main.yaml:5:3 duplicate-key', 'main.yaml:5:3 duplicate-key']);
  });

  it.each([
    ['secrets: 5', 's.yaml:2:10 wrong-type'],
    ['env: [A]', 's.yaml:2:1 wrong-type'],
    ['params: 5', 's.yaml:2:9 wrong-type'],
    ['params: { "a b": 5 }', 's.yaml:2:11 bad-name'],
    ['uses: t.yaml', 's.yaml:2:1 conflicting-keys'],
    ['comand: [y]', 's.yaml:2:1 unknown-key'],
  ])('parsePipeline tells what is wrong in a step file, in that file: %s', (line, place) => {
    const result = parse({
      'main.yaml': `${MAIN}secrets: [T]\nsteps:\n  a: { uses: s.yaml, secrets: [T], env: { A: b } }\n`,
      's.yaml': `command: [x]\n${line}\n`,
      't.yaml': 'command: [y]\n',
    });
    expect(places(result)).toEqual([place]);
  });

  it('parsePipeline puts values of `with` in place whatever they are: lists with expressions, large, negative, commented', () => {
    const result = parse({
      'main.yaml': `${MAIN}params: { k: 3 }\nsteps:\n  a:\n    uses: s.yaml\n    when: "\${{ params.k > 1 // enough\\n }}"\n    with: { list: ["\${{ params.k + 1 }}"], large: 1.0e+21, negative: -5 }\n`,
      's.yaml': `${MAIN}params: { list: { type: array }, large: { type: number }, negative: { type: integer } }\nsteps:\n  b:\n    when: \${{ params.negative < 0 }}\n    matrix: { n: "\${{ params.list }}", m: ["\${{ 1 -params.negative }}", "\${{ params.large * 2 }}"] }\n    command: [x]\n`,
    });
    const plan = result.ok ? createPlan(result.value) : result;
    expect(plan.ok ? plan.value.steps[0]?.cells?.map(({ matrix }) => matrix) : plan.error).toEqual([
      { n: 4, m: 6 },
      { n: 4, m: 2e21 },
    ]);
    expect(result.ok && result.value.steps[0]?.when).toBe(`\${{ (params.k > 1 // enough\n) && ((-5) < 0) }}`);
  });

  it('parsePipeline bounds what files that use each other twice stand for, and checks each once', () => {
    const files = Array.from({ length: 30 }, (_, i): [string, string] => [
      `f${i}.yaml`,
      `${MAIN}steps:\n  a: { uses: f${i + 1}.yaml }\n  b: { uses: f${i + 1}.yaml }\n`,
    ]);
    const result = parse({
      'main.yaml': `${MAIN}steps:\n  a: { uses: f0.yaml }\n`,
      ...Object.fromEntries(files),
      'f30.yaml': `${MAIN}steps:\n  s: { command: [x] }\n`,
    });
    expect(places(result)).toEqual(['f15.yaml:5:14 too-large']);
  });

  it('parsePipeline lets thousands of steps use a file', () => {
    const steps = Array.from({ length: 2000 }, (_, i) => `  s${i}: { uses: step.yaml, with: { n: ${i} } }\n`);
    const result = parse({
      'main.yaml': `${MAIN}steps:\n${steps.join('')}`,
      'step.yaml': 'params: { n: 0 }\ncommand: [x, "${{ params.n }}"]\n',
    });
    expect(result.ok && result.value.steps.length).toBe(2000);
  });
});

describe('results', () => {
  const SUB =
    'version: 1\nname: sub\nsteps:\n  a: { command: [x], results: { n: number } }\n  b: { command: [x], results: { n: number } }\nresults: { total: b.n }\n';

  it('parsePipeline reads the results that a used pipeline declares, in expressions and in results', () => {
    const result = parse({
      'main.yaml': `${MAIN}steps:\n  sub: { uses: sub.yaml }\n  c: { command: [x, "\${{ steps.sub.results.total }}"] }\nresults: { sum: sub.total }\n`,
      'sub.yaml': SUB,
    });
    expect(places(result)).toEqual([]);
    if (!result.ok) return;
    expect(result.value.results).toEqual({ sum: { step: 'sub-b', result: 'n' } });
    expect(result.value.steps.find(({ name }) => name === 'c')?.command?.[1]).toContain(
      'steps["sub-b"]["results"]["n"]',
    );
  });

  it('parsePipeline rejects other results of such a pipeline', () => {
    const result = parse({
      'main.yaml': `${MAIN}steps:\n  sub: { uses: sub.yaml }\n  c: { command: [x, "\${{ steps.sub.results.n }}"] }\nresults: { sum: sub.n }\n`,
      'sub.yaml': SUB,
    });
    expect(places(result)).toEqual(['main.yaml:5:21 unknown-result', 'main.yaml:6:17 unknown-result']);
  });
});
