import { describe, expect, test } from 'vitest';
import { fail, ok, type Pipeline, parsePipeline, pipeline } from '../../src/index.ts';

function parse(files: Readonly<Record<string, string>>): Pipeline {
  const parsed = parsePipeline({
    file: 'main.yaml',
    text: `version: 1\nname: main\n${files['main.yaml']}`,
    read: (path) => (files[path] === undefined ? fail('there is no such file') : ok(files[path])),
  });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  return parsed.value.pipeline;
}

function names({ steps, finally: last }: Pipeline): string[] {
  return [...steps, ...last].map(({ name }) => name);
}

function sources(pipeline: Pipeline): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(pipeline.volumes).map(([name, { source }]) => [name, source]));
}

describe('addEnvironments', () => {
  test('adds a cached step with a volume, which steps with the same file share', () => {
    const made = parse({
      'main.yaml': `env: { PIP_INDEX_URL: "https://example.test" }
steps:
  fit: { venv: ./a/Requirements.dev.txt, command: [fit] }
finally:
  report: { venv: ./a/Requirements.dev.txt, command: [report] }
`,
    });
    expect(names(made)).toEqual(['venv-requirements-dev', 'fit', 'report']);
    expect(made.volumes).toEqual({ 'venv-requirements-dev': { source: './a/Requirements.dev.txt', retain: true } });
    const [making, fit] = made.steps;
    expect(making).toMatchObject({
      env: { PIP_INDEX_URL: 'https://example.test' },
      inputs: { packages: { from: { volume: 'venv-requirements-dev', path: '' }, path: '/in/packages' } },
      outputs: { venv: { path: '/opt/venv', retain: false } },
      cache: { ignore: [] },
    });
    expect(making?.command?.slice(-2)).toEqual(['/opt/venv', '/in/packages/Requirements.dev.txt']);
    for (const step of [fit, made.finally[0]]) {
      expect(step?.inputs).toEqual({
        venv: { from: { step: 'venv-requirements-dev', output: 'venv' }, path: '/opt/venv' },
      });
    }
  });

  test('takes no defaults for the step that it adds, and gives it the modules and the placement of the others', () => {
    const made = parse({
      'main.yaml': `placement: { cluster: one }
axes: { sample: [a, b] }
defaults: { conda: environment.yml, each: sample, secrets: [], retry: 2, outputs: [out] }
steps:
  first: { command: [x] }
  second: { command: [x], modules: conda/24 }
  image: { image: "debian:12", command: [x] }
  ask: { approval: true, needs: [first] }
`,
    });
    expect(names(made).slice(0, 2)).toEqual(['conda-environment', 'conda-environment-2']);
    const [plain, withModule] = made.steps;
    expect(plain).toMatchObject({ placement: { cluster: 'one' }, retry: { limit: 0 } });
    expect(plain).not.toHaveProperty('each');
    expect(Object.keys(plain?.outputs ?? {})).toEqual(['conda']);
    expect(withModule?.command?.slice(3, 6)).toEqual(['sh', 'conda/24', '--']);
    expect(made.steps.find(({ name }) => name === 'image')?.inputs).toEqual({});
    expect(made.steps.find(({ name }) => name === 'ask')?.inputs).toEqual({});
  });

  test('chooses names that are free', () => {
    const made = parse({
      'main.yaml': `volumes: { venv-a: {} }
steps:
  venv-a-2: { venv: a.txt, command: [x] }
  other: { venv: "_.txt", command: [x] }
`,
    });
    expect(names(made)).toEqual(['venv-a-3', 'venv-file', 'venv-a-2', 'other']);
  });

  test('finds the files of used pipelines and steps beside their own files, and shares them too', () => {
    const made = parse({
      'main.yaml': `axes: { sample: [a, b] }
steps:
  before: { command: [x] }
  train: { uses: parts/train.yaml, each: sample, needs: [before] }
  eval: { uses: parts/eval.yaml }
`,
      'parts/train.yaml': `version: 1
name: train
defaults: { venv: requirements.txt }
steps: { fit: { command: [fit] } }
`,
      'parts/eval.yaml': 'venv: requirements.txt\ncommand: [eval]\n',
    });
    expect(names(made)).toEqual(['venv-requirements', 'before', 'train-fit', 'eval']);
    expect(sources(made)).toEqual({ 'venv-requirements': 'parts/requirements.txt' });
    expect(made.steps.find(({ name }) => name === 'train-fit')?.needs).toEqual([
      { step: 'before', condition: 'succeeded' },
    ]);
    expect(made.steps[0]).not.toHaveProperty('each');
  });

  test('tells where the file has the key', () => {
    const text = 'version: 1\nname: main\nsteps:\n  fit: { venv: a.txt, command: [x] }\n';
    const parsed = parsePipeline({ file: 'main.yaml', text });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
    expect(parsed.value.locate(['volumes', 'venv-a', 'source'])).toMatchObject({ line: 4, column: 16 });
    expect(parsed.value.locate(['steps', 'fit'])).toMatchObject({ line: 4 });
  });

  test('is part of a pipeline that a program builds', () => {
    const p = pipeline('built');
    p.step('fit', { venv: 'requirements.txt', command: ['fit'] });
    const built = p.build().pipeline;
    expect(names(built)).toEqual(['venv-requirements', 'fit']);
  });
});
