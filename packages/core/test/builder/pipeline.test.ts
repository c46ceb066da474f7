import { describe, expect, it } from 'vitest';
import { expression, fail, ok, parsePipeline, pipeline } from '../../src/index.ts';

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
  const fit = p.matrix('fit', { seed: p.params.seeds }, (matrix) => ({
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
  p.foreach('each', select.results.ids, (item) => ({ command: ['echo', item], needs: [[prepare, 'completed']] }));
  p.finally('report', { command: ['echo', p.run.status], needs: [select] });
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
    const built = train().p.build();
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
    const built = p.build({ read });
    expect(built).toEqual(withoutPlaces(parsePipeline({ file: '', text, read })));
    if (!built.ok) throw new Error(JSON.stringify(built.error));
    const show = built.value.pipeline.steps.find(({ name }) => name === 'show');
    expect(show?.command?.[1]).toBe('${{ steps["sub-fit"]["results"]["accuracy"] }}');
    expect(p.build()).toMatchObject({ ok: false });
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
    const built = p.build({ read });
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
      void p.matrix('m', { a: [1] }, () => ({ command: ['x'] })).ports.http;
    };
    expect(compiledOnly).toBeTypeOf('function');
  });

  it('pipeline reports what the checks find, without places', () => {
    const p = pipeline('broken');
    const a = p.step('a', { command: ['x'], outputs: { out: '/out' } });
    p.step('a', { command: ['y'], inputs: { data: a.outputs.out } });
    const built = p.build();
    expect(built.ok).toBe(false);
    if (!built.ok) expect(built.error.map(({ code }) => code)).toEqual(['duplicate-key', 'unknown-output', 'cycle']);
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
      p.matrix('y', { seed: [1] }, (matrix) => ({ command: [matrix.sed] }));
      // @ts-expect-error a parameter that is no list cannot be an axis
      p.matrix('z', { seed: p.params.note }, () => ({ command: ['x'] }));
      // @ts-expect-error unknown keys are refused
      p.step('k', { command: ['x'], comand: ['x'] });
    };
    expect(compiledOnly).toBeTypeOf('function');
    expect(p.params.seeds.source).toBe('params.seeds');
  });
});
