import { describe, expect, it } from 'vitest';
import {
  createPlan,
  type ExpressionHandle,
  expression,
  fail,
  ok,
  parsePipeline,
  pipeline,
  resolveContainer,
  resolveDecision,
} from '../../src/index.ts';

function train() {
  const p = pipeline('train', {
    params: { seeds: [1, 2, 3], rate: { type: 'number', default: 0.1 }, note: 'none' },
    volumes: { raw: { source: './data' } },
  });
  const prepare = p.step('prepare', {
    command: ['node', 'prepare.mjs', '/in/raw', '/out'],
    inputs: { raw: p.volumes.raw },
    outputs: { clean: '/out' },
    cache: true,
  });
  const fit = p.step('fit', { matrix: { seed: p.params.seeds } }, ({ matrix }) => ({
    command: ['node', 'fit.mjs', '--seed', matrix.seed, `--rate=${p.params.rate}`],
    inputs: { clean: prepare.outputs.clean },
    outputs: { model: '/model' },
    results: { accuracy: 'number' },
    retry: { limit: 2, on: ['timeout'] },
    timeout: '1h',
  }));
  const select = p.step('select-best', {
    command: ['node', 'select.mjs', fit.results.accuracy],
    inputs: { models: { from: fit.outputs.model, path: '/models', writable: true } },
    outputs: { best: { path: '/best', expect: ['*.bin'] } },
    results: { ids: 'array' },
    when: expression<boolean>(`size(${fit.results.accuracy.source}) > 0`),
  });
  p.step('each', { foreach: select.results.ids }, ({ item }) => ({
    command: ['echo', item],
    needs: [[prepare, 'completed']],
  }));
  p.step('report', { final: true, command: ['echo', p.run.status], needs: select });
  p.output('best', select.outputs.best, { publish: './results' });
  return { p, prepare, fit, select };
}

const FILE = `
version: 1
name: train
params:
  seeds: [1, 2, 3]
  rate: { type: number, default: 0.1 }
  note: none
volumes:
  raw: { source: ./data }
steps:
  prepare:
    command: [node, prepare.mjs, /in/raw, /out]
    inputs: { raw: volumes.raw }
    outputs: { clean: /out }
    cache: true
  fit:
    matrix: { seed: "\${{ params.seeds }}" }
    command: [node, fit.mjs, --seed, "\${{ matrix.seed }}", "--rate=\${{ params.rate }}"]
    inputs: { clean: prepare.clean }
    outputs: { model: /model }
    results: { accuracy: number }
    retry: { limit: 2, on: [timeout] }
    timeout: 1h
  select-best:
    command: [node, select.mjs, "\${{ steps.fit.results.accuracy }}"]
    inputs: { models: { from: fit.model, path: /models, writable: true } }
    outputs: { best: { path: /best, expect: ["*.bin"] } }
    results: { ids: array }
    when: \${{ size(steps.fit.results.accuracy) > 0 }}
  each:
    foreach: \${{ steps["select-best"].results.ids }}
    command: [echo, "\${{ item }}"]
    needs: { prepare: completed }
finally:
  report:
    command: [echo, "\${{ run.status }}"]
    needs: [select-best]
outputs:
  best: { from: select-best.best, publish: ./results }
`;

/** What a file says, without where: what is built stands in no file. */
function withoutPlaces(parsed: ReturnType<typeof parsePipeline>) {
  if (!parsed.ok) return parsed;
  const { locate: _locate, ...said } = parsed.value;
  return ok(said);
}

describe('pipeline', () => {
  it('pipeline builds the very model that the file gives', () => {
    const built = train().p.safeBuild();
    const parsed = parsePipeline({ file: 'p.yaml', text: FILE });
    expect(parsed).toMatchObject({ ok: true });
    expect(built).toEqual(withoutPlaces(parsed));
  });

  it('pipeline takes in defaults, included and used files as a pipeline file does', () => {
    const files: Readonly<Record<string, string>> = {
      'more.yaml': 'steps:\n  extra: { command: [x] }\n',
      'sub.yaml': `version: 1
name: sub
params: { size: 1 }
steps:
  fit: { command: [fit, "\${{ params.size }}"], outputs: { model: /m }, results: { accuracy: number } }
outputs: { model: fit.model }
results: { accuracy: fit.accuracy }
`,
    };
    const read = (path: string) => (files[path] === undefined ? fail('it is not there') : ok(files[path]));
    const p = pipeline('whole', { defaults: { retry: 2, env: { LEVEL: 'info' } }, include: 'more.yaml' });
    const sub = p.uses('sub', 'sub.yaml', { with: { size: 3 }, outputs: ['model'], results: { accuracy: 'number' } });
    p.step('show', {
      command: ['show', sub.results.accuracy, sub.status],
      inputs: { model: sub.outputs.model },
    });
    const text = `version: 1
name: whole
defaults: { retry: 2, env: { LEVEL: info } }
include: more.yaml
steps:
  sub: { uses: sub.yaml, with: { size: 3 } }
  show:
    command: [show, "\${{ steps.sub.results.accuracy }}", "\${{ steps.sub.status }}"]
    inputs: { model: sub.model }
`;
    const built = p.safeBuild({ read });
    expect(built).toEqual(withoutPlaces(parsePipeline({ file: '', text, read })));
    if (!built.ok) throw new Error(JSON.stringify(built.error));
    const show = built.value.pipeline.steps.find(({ name }) => name === 'show');
    expect(show?.command?.[1]).toBe('${{ steps["sub-fit"]["results"]["accuracy"] }}');
    expect(p.safeBuild()).toMatchObject({ ok: false });
    const compiledOnly = (): void => {
      // @ts-expect-error the used file is not said to have this output
      void sub.outputs.modle;
    };
    expect(compiledOnly).toBeTypeOf('function');
  });

  it('pipeline has handles for the ports of services, also of used ones', () => {
    const sub = `version: 1
name: sub
steps:
  db: { command: [db], ports: { sql: {} }, service: true }
  fill: { command: [fill, "\${{ steps.db.ports.sql.url }}"] }
`;
    const read = () => ok(sub);
    const p = pipeline('served');
    const web = p.step('web', { command: ['serve'], ports: { 'http-1': { https: {} } }, service: true });
    const used = p.uses('used', 'sub.yaml', { ports: ['sql'] });
    p.step('ask', {
      command: ['ask', `${web.ports['http-1'].url}/hello`, used.ports.sql.url],
      env: { AT: p.run.plannedTime },
    });
    const built = p.safeBuild({ read });
    if (!built.ok) throw new Error(JSON.stringify(built.error));
    const ask = built.value.pipeline.steps.find(({ name }) => name === 'ask');
    expect(ask?.command).toEqual([
      'ask',
      '${{ steps.web.ports["http-1"].url }}/hello',
      '${{ steps["used-db"]["ports"]["sql"]["url"] }}',
    ]);
    const compiledOnly = (): void => {
      // @ts-expect-error there is no such port
      void web.ports.http;
      // @ts-expect-error the used file is not said to have this port
      void used.ports.http;
      // @ts-expect-error cells are no services
      void p.step('m', { matrix: { a: [1] } }, () => ({ command: ['x'] })).ports.http;
    };
    expect(compiledOnly).toBeTypeOf('function');
  });

  it('pipeline reports what the checks find, as a result or as an error', () => {
    const p = pipeline('broken');
    const a = p.step('a', { command: ['x'], inputs: {}, outputs: { out: '/out' } });
    p.step('b', { command: ['y'], inputs: { data: { step: 'a', output: 'oot' } as never, more: a.outputs.out } });
    const built = p.safeBuild();
    if (built.ok) throw new Error('the pipeline passed');
    expect(built.error).toMatchObject({ code: 'INVALID_PIPELINE', diagnostics: [{ code: 'unknown-output' }] });
    expect(built.error.message).toMatch(/^the pipeline broken is invalid:\nerror: .*oot.*\[unknown-output\]/);
    expect(() => p.build()).toThrow(built.error.message);
  });

  it('pipeline rejects a second step of a name where it is written, and names both places', () => {
    const p = pipeline('twice');
    p.step('a', { command: ['x'] });
    const again = () => p.step('a', { final: true, command: ['y'] });
    expect(again).toThrow(
      expect.objectContaining({
        code: 'DUPLICATE_STEP',
        message: expect.stringMatching(
          /^the step `a` is defined twice: at .*pipeline\.test\.ts:\d+:\d+, first at .*pipeline\.test\.ts:\d+:\d+$/,
        ),
      }),
    );
    expect(() => p.uses('a', 'a.yaml')).toThrow('the step `a` is defined twice');
  });

  it.each<[string, () => unknown]>([
    ['pipeline: the name must be a string', () => pipeline(5 as never)],
    ['pipeline p: the config must be an object', () => pipeline('p', null as never)],
    ['step a: the config must be an object', () => pipeline('p').step('a', undefined as never)],
    [
      'step a: an object with `matrix` or `foreach` must come before the function',
      () => pipeline('p').step('a', { command: ['x'] } as never, (() => ({})) as never),
    ],
    [
      'step a: the config of a step with cells must be a function',
      () => pipeline('p').step('a', { matrix: { n: [1] } }, { command: ['x'] } as never),
    ],
  ])('wrong input from JavaScript is a SluiceError: %s', (message, call) => {
    expect(call).toThrow(expect.objectContaining({ name: 'SluiceError', code: 'INVALID_ARGUMENT', message }));
  });

  it('a step with cells has handles for what `include` adds, and may be final', () => {
    const p = pipeline('cells');
    const fit = p.step(
      'fit',
      { matrix: { model: ['knn', 'tree'], include: [{ model: 'knn', k: 3 }] } },
      ({ matrix }) => ({ command: ['fit', matrix.model, matrix.k], results: { loss: 'number' } }),
    );
    p.step('tell', { foreach: fit.results.loss, key: 'loss-${{ item }}', final: true }, ({ item }) => ({
      command: ['echo', item],
    }));
    expect(p.toJSON()).toMatchObject({
      steps: { fit: { matrix: { include: [{ model: 'knn', k: 3 }] } } },
      finally: { tell: { foreach: { items: '${{ steps.fit.results.loss }}', key: 'loss-${{ item }}' } } },
    });
  });

  it('a part of an output may be an output of the pipeline', () => {
    const p = pipeline('parts');
    const fit = p.step('fit', { command: ['fit'], outputs: ['model'] });
    p.output('weights', fit.outputs.model.at('epochs').at('last'), { publish: 'weights' });
    expect(p.toJSON()).toMatchObject({
      outputs: { weights: { from: 'fit.model/epochs/last', publish: 'weights' } },
    });
    expect(p.build().pipeline.outputs.weights?.from).toEqual({ step: 'fit', output: 'model', path: 'epochs/last' });
  });

  it('a list of `foreach` is data: long, with any keys, and whole numbers beside fractions are doubles', () => {
    const p = pipeline('p');
    const items = Array.from({ length: 20_000 }, (_, n) => ({ constructor: 'c', rate: n === 0 ? 0.5 : n }));
    p.step('each', { foreach: items }, ({ item }) => ({ command: ['x', item], env: { RATE: '${{ item.rate / 4 }}' } }));
    const plan = createPlan(p.build().pipeline);
    if (!plan.ok) throw new Error('no plan');
    const context = { run: { id: 'r', name: 'p', plannedTime: '' }, attempt: 1, steps: () => undefined };
    const decision = resolveDecision(plan.value, 0, context);
    const cells = decision.ok ? (decision.value.cells ?? []) : [];
    expect(cells.map(({ item }) => item)).toEqual(items);
    expect(resolveContainer(plan.value, 0, { cell: cells[1]!, context })).toMatchObject({
      ok: true,
      value: { command: ['x', '{"constructor":"c","rate":1}'], env: { RATE: '0.25' } },
    });
  });

  it('`foreach` may have the form of a file', () => {
    const p = pipeline('cells');
    p.step('each', { foreach: { items: [{ id: 'a', size: 1 }], key: '${{ item.id }}' } }, ({ item }) => {
      const typed: ExpressionHandle<{ readonly id: string; readonly size: number }> = item;
      return { command: ['echo', typed] };
    });
    const foreach = { items: [{ id: 'a', size: 1 }], key: '${{ item.id }}' };
    expect(p.toJSON()).toMatchObject({ steps: { each: { foreach } } });
    expect(p.build().warnings).toEqual([]);
  });

  it('outputs may be a list of names, parts of them can be mounted, and results become those of the pipeline', () => {
    const p = pipeline('short', { volumes: { raw: {} } });
    const fit = p.step('fit', { command: ['fit'], outputs: ['model', 'logs'], results: { loss: 'number' } });
    const each = p.step('each', { matrix: { n: [1, 2] } }, ({ matrix }) => ({
      command: ['each', matrix.n],
      outputs: ['part'],
      results: { sizes: { type: 'array', file: 's' } },
    }));
    p.step('read', {
      command: ['read'],
      inputs: {
        weights: fit.outputs.model.at('epochs').at('last.bin'),
        logs: { from: fit.outputs.logs.at('a'), path: '/logs' },
        raw: p.volumes.raw.at('a'),
        parts: each.outputs.part,
      },
      needs: each,
    });
    const typed = p.results({ loss: fit.results.loss }).results({ sizes: each.results.sizes });
    const values: { readonly loss: number; readonly sizes: readonly (readonly unknown[])[] } | undefined =
      typed.resultValues;
    expect(values).toBeUndefined();
    const text = `
version: 1
name: short
volumes: { raw: {} }
steps:
  fit: { command: [fit], outputs: [model, logs], results: { loss: number } }
  each:
    matrix: { n: [1, 2] }
    command: [each, "\${{ matrix.n }}"]
    outputs: [part]
    results: { sizes: { type: array, file: s } }
  read:
    command: [read]
    inputs:
      weights: fit.model/epochs/last.bin
      logs: { from: fit.logs/a, path: /logs }
      raw: volumes.raw/a
      parts: each.part
    needs: each
results: { loss: fit.loss, sizes: each.sizes }
`;
    expect(typed.safeBuild()).toEqual(withoutPlaces(parsePipeline({ file: 'p.yaml', text })));
    expect(() => p.results({ loss: fit.results.loss })).toThrow(
      /^the result `loss` is defined twice: at .*pipeline\.test/,
    );
    const compiledOnly = (): void => {
      // @ts-expect-error there is no such output
      void fit.outputs.log;
      // @ts-expect-error an output of a step with cells has one directory for each of them
      void each.outputs.part.at('1');
      // @ts-expect-error a parameter is no result
      p.results({ n: p.run.id });
      // @ts-expect-error the pipeline has not declared this result
      void typed.resultValues?.los;
    };
    expect(compiledOnly).toBeTypeOf('function');
  });

  it('results of a used file become those of the pipeline', () => {
    const sub = `version: 1
name: sub
steps: { fit: { command: [fit], results: { loss: number } } }
results: { loss: fit.loss }
`;
    const p = pipeline('whole');
    const used = p.uses('used', 'sub.yaml', { results: { loss: 'number' } });
    const built = p.results({ loss: used.results.loss }).build({ read: () => ok(sub) });
    expect(built.pipeline.results).toEqual({ loss: { step: 'used-fit', result: 'loss' } });
  });

  it('parameters have the type of their default, not its literal', () => {
    const p = pipeline('wide', { params: { n: 5, name: 'a', sizes: [1, 2], mode: { enum: ['fast', 'exact'] } } });
    const n: ExpressionHandle<number> = p.params.n;
    const name: ExpressionHandle<string> = p.params.name;
    const sizes: ExpressionHandle<readonly number[]> = p.params.sizes;
    const mode: ExpressionHandle<'fast' | 'exact'> = p.params.mode;
    const compiledOnly = (): void => {
      // @ts-expect-error the default is an example: another number is possible
      const five: ExpressionHandle<5> = p.params.n;
      void five;
    };
    expect(compiledOnly).toBeTypeOf('function');
    expect([n, name, sizes, mode].map(({ source }) => source)).toEqual([
      'params.n',
      'params.name',
      'params.sizes',
      'params.mode',
    ]);
  });

  it('pipeline makes wrong names errors of the compiler', () => {
    const { p, prepare, fit } = train();
    const compiledOnly = (): void => {
      // @ts-expect-error there is no such parameter
      void p.params.sedes;
      // @ts-expect-error there is no such volume
      void p.volumes.rawer;
      // @ts-expect-error there is no such output
      void prepare.outputs.cleen;
      // @ts-expect-error a step without results has none
      void prepare.results.accuracy;
      // @ts-expect-error there is no such result
      void fit.results.loss;
      // @ts-expect-error a result is no truth value
      p.step('w', { command: ['x'], when: fit.results.accuracy });
      // @ts-expect-error an input is an edge, and no text
      p.step('x', { command: ['x'], inputs: { data: 'prepare.clean' } });
      // @ts-expect-error there is no such axis
      p.step('y', { matrix: { seed: [1] } }, ({ matrix }) => ({ command: [matrix.sed] }));
      // @ts-expect-error a parameter that is no list cannot be an axis
      p.step('z', { matrix: { seed: p.params.note } }, () => ({ command: ['x'] }));
      // @ts-expect-error unknown keys are rejected
      p.step('k', { command: ['x'], comand: ['x'] });
    };
    expect(compiledOnly).toBeTypeOf('function');
    expect(p.params.seeds.source).toBe('params.seeds');
  });
});
