import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  createFingerprint,
  explainDifference,
  type FingerprintOptions,
  type Json,
  type RunContext,
  resolveContainer,
  resolveDecision,
  resolveText,
  type StepFacts,
} from '../../src/index.ts';
import { planOf } from '../plan/plan-of.ts';

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

function context(steps: Readonly<Record<string, StepFacts>> = {}): RunContext {
  return {
    run: { id: 'r1', name: 'demo', plannedTime: '2026-11-21T02:30:00Z', status: 'failed' },
    attempt: 2,
    steps: (name) => steps[name],
  };
}

function containerOf(
  body: string,
  options: { steps?: Readonly<Record<string, StepFacts>>; cell?: number; params?: Readonly<Record<string, Json>> } = {},
) {
  const plan = planOf(body, options.params);
  const last = plan.steps.length - 1;
  const cell = plan.steps[last]?.cells?.[options.cell ?? 0] ?? { key: '', matrix: {} };
  return resolveContainer(plan, last, { cell, context: context(options.steps) });
}

describe('resolveContainer', () => {
  it('resolveContainer gives the expressions of a script the variables of the step', () => {
    const resolved = containerOf(`
env: { LEVEL: "info" }
steps:
  s: { script: 'echo "\${{ env.LEVEL }} \${{ env.MINE }}"', env: { MINE: "\${{ run.id }}" } }
`);
    expect(resolved).toMatchObject({
      ok: true,
      value: { env: { LEVEL: 'info', MINE: 'r1', SLUICE_ARG_1: 'info', SLUICE_ARG_2: 'r1' } },
    });
  });

  it('resolveContainer evaluates everything and separates secrets', () => {
    const resolved = containerOf(
      `
params: { text: "a b; rm -rf /", n: { type: number, default: 2 } }
secrets: [TOKEN, OTHER]
env: { LEVEL: "\${{ params.n }}" }
steps:
  prep: { command: [x], outputs: { o: /o }, results: { n: integer } }
  fit:
    matrix: { seed: [7, 8] }
    image: "img:\${{ matrix.seed }}"
    command: [fit, "\${{ params.text }}", "\${{ steps.prep.results.n + 1 }}", "\${{ inputs.data.path }}", "\${{ outputs.m.path }}", "\${{ run.id }}-\${{ attempt }}", "\${{ env.LEVEL }}"]
    env: { KEY: "\${{ secrets.TOKEN }}" }
    secrets: [OTHER]
    inputs: { data: prep.o }
    outputs: { m: /m }
`,
      { steps: { prep: { status: 'succeeded', results: { n: 41 } } }, cell: 1 },
    );
    expect(resolved).toEqual({
      ok: true,
      value: {
        image: 'img:8',
        command: ['fit', 'a b; rm -rf /', '42', '/in/data', '/m', 'r1-2', '2'],
        env: { LEVEL: '2' },
        secrets: [
          { env: 'KEY', secret: 'TOKEN' },
          { env: 'OTHER', secret: 'OTHER' },
        ],
        ports: {},
        inputs: [{ name: 'data', from: { step: 'prep', output: 'o' }, path: '/in/data' }],
        outputs: [{ name: 'm', path: '/m' }],
        results: [],
      },
    });
  });

  it('resolveContainer gives the results of a step with cells as a list', () => {
    const body =
      'steps:\n  fit: { command: [x], matrix: { s: [1, 2] }, results: { acc: number } }\n  best: { command: [x, "${{ steps.fit.results.acc.filter(a, a > 0.5) }}"] }\n';
    const resolved = containerOf(body, { steps: { fit: { status: 'succeeded', results: { acc: [1, 0.25] } } } });
    expect(resolved.ok && resolved.value.command).toEqual(['x', '[1]']);
  });

  it('resolveContainer says what cannot be evaluated, and why', () => {
    const body =
      'steps:\n  a: { command: [x], results: { n: integer } }\n  b: { command: [x, "${{ steps.a.results.n }}"] }\n';
    expect(containerOf(body)).toEqual({
      ok: false,
      error: '`command` of step `b` cannot be evaluated: ${{ steps.a.results.n }}: no such key: results',
    });
  });

  it('resolveContainer keeps values of a shell script one word that is never run', () => {
    const nasty = `a  b"; touch /tmp/sluice-oops; echo '$(id) \`id\` $HOME *`;
    const script = `
printf '<%s>' \${{ params.text }} "x=\${{ params.text }}" 'y=\${{ params.text }}' # don't mind
printf '<%s>' "\${{ params.text }}"`;
    const indented = script.replace(/\n/g, '\n      ');
    const resolved = containerOf(`params: { text: none }\nsteps:\n  a:\n    script: |${indented}\n`, {
      params: { text: nasty },
    });
    if (!resolved.ok) throw new Error(resolved.error);
    const [program = '', ...args] = resolved.value.command ?? [];
    const output = execFileSync(program, args, { env: { ...process.env, ...resolved.value.env }, encoding: 'utf8' });
    expect(output).toBe(`<${nasty}><x=${nasty}><y=${nasty}><${nasty}>`);
    expect(args.join(' ')).not.toContain('oops');
  });

  it('resolveContainer runs a text as a shell command and a script by its interpreter', () => {
    expect(containerOf('steps:\n  a: { command: "echo $HOME" }\n')).toMatchObject({
      value: { command: ['sh', '-eu', '-c', 'echo $HOME'] },
    });
    expect(containerOf('steps:\n  a: { script: "console.log(1)", shell: node }\n')).toMatchObject({
      value: { command: ['node', '-e', 'console.log(1)'] },
    });
    expect(containerOf('steps:\n  a: { script: "print(1)", shell: [python3, -u] }\n')).toMatchObject({
      value: { command: ['python3', '-u', '-c', 'print(1)'] },
    });
  });
});

describe('resolveDecision', () => {
  const body =
    'steps:\n  a: { command: [x], results: { names: array } }\n  b: { command: [x], when: "${{ steps.a.status == \'succeeded\' }}", foreach: "${{ steps.a.results.names }}" }\n';
  const decide = (facts: StepFacts) => resolveDecision(planOf(body), 1, context({ a: facts }));

  it('resolveDecision skips, or makes a cell for each item', () => {
    expect(decide({ status: 'failed', results: {} })).toEqual({ ok: true, value: { run: false } });
    expect(decide({ status: 'succeeded', results: { names: [] } })).toEqual({
      ok: true,
      value: { run: true, cells: [] },
    });
    const decided = decide({ status: 'succeeded', results: { names: ['x', 'y', 'x', { a: 1 }] } });
    const cells = decided.ok ? (decided.value.cells ?? []) : [];
    expect(cells.map(({ item }) => item)).toEqual(['x', 'y', 'x', { a: 1 }]);
    expect(new Set(cells.map(({ key }) => key)).size).toBe(4);
    expect(cells[1]?.key).toBe('y');
  });

  it('resolveDecision says what is no list, and what is too long', () => {
    expect(decide({ status: 'succeeded', results: { names: 'x' } })).toEqual({
      ok: false,
      error: '`foreach` of step `b`, ${{ steps.a.results.names }}, yields "x" instead of a list',
    });
    const long = Array.from({ length: 100_001 }, () => 1);
    expect(decide({ status: 'succeeded', results: { names: long } })).toMatchObject({
      ok: false,
      error: expect.stringContaining('100001 items'),
    });
  });
});

describe('resolveText', () => {
  it('resolveText evaluates what belongs to no step', () => {
    expect(
      resolveText(
        planOf('params: { n: 1 }\nsteps: { a: { command: [x] } }\n'),
        'run ${{ run.id }} of ${{ params.n }}',
        context(),
      ),
    ).toEqual({ ok: true, value: 'run r1 of 1' });
  });
});

describe('keys of foreach cells', () => {
  const keysOf = (items: Json, foreach: string): readonly string[] | string => {
    const plan = planOf(
      `steps:\n  a: { command: [x], results: { list: array } }\n  b: { command: [x], foreach: ${foreach} }\n`,
    );
    const decision = resolveDecision(plan, 1, context({ a: { status: 'succeeded', results: { list: items } } }));
    return decision.ok ? (decision.value.cells ?? []).map(({ key }) => key) : decision.error;
  };
  const LIST = '"${{ steps.a.results.list }}"';

  it('are made of the fields of a map and the items of a list', () => {
    const items: Json[] = [{ name: 'A b', size: 3 }, { path: '/x/y.bam' }, ['p', 2], {}, 'plain', { constructor: 1 }];
    expect(keysOf(items, LIST)).toEqual([
      'name-a-b-size-3',
      'path-x-y-bam',
      'p-2',
      expect.stringMatching(/^cell-[a-z2-7]+$/),
      'plain',
      'constructor-1',
    ]);
  });

  it('are short and unique, whatever the items are', () => {
    const items = Array.from({ length: 300 }, (_, n) => ({ sequence: 'acgt'.repeat(30), n: n % 100, odd: '名' }));
    const keys = keysOf(items, LIST);
    expect(new Set(keys).size).toBe(300);
    for (const key of keys) expect(key).toMatch(/^[a-z0-9][a-z0-9-]{0,70}$/);
  });

  it('are what `key` says, unique nevertheless', () => {
    const items = [{ id: 'S1/x' }, { id: 'S2' }, { id: 'S2', other: 1 }, { id: '!' }];
    expect(keysOf(items, '{ items: "${{ steps.a.results.list }}", key: "sample ${{ item.id }}" }')).toEqual([
      'sample-s1-x',
      expect.stringMatching(/^sample-s2-[a-z2-7]+$/),
      expect.stringMatching(/^sample-s2-[a-z2-7]+$/),
      'sample',
    ]);
    expect(keysOf([{}], '{ items: "${{ steps.a.results.list }}", key: "${{ item.id }}" }')).toMatch(
      /^`foreach.key` of step `b` cannot be evaluated for item 1: /,
    );
  });
});

describe('createFingerprint', () => {
  const body = (extra: string) =>
    `steps:\n  a: { command: [x] , outputs: { o: /o } }\n  b: { command: [y], env: { A: "1", B: "2" }, inputs: { o: a.o }${extra} }\n`;
  const print = (extra = '', options: Partial<FingerprintOptions> & { input?: string } = {}) => {
    const resolved = containerOf(body(extra));
    if (!resolved.ok) throw new Error(resolved.error);
    return createFingerprint(resolved.value, {
      pipeline: 'p',
      step: 'b',
      inputs: { o: options.input ?? 'i1' },
      hash,
      ...(options.ignore && { ignore: options.ignore }),
      ...(options.key !== undefined && { key: options.key }),
      ...(options.tasks && { tasks: options.tasks }),
    });
  };

  it('createFingerprint is the same for the same work, whatever the order of keys', () => {
    expect(print()).toEqual(print(', priority: 3, timeout: 1h, resources: { cpu: 2 }'));
    const names = print().components.map(({ name }) => name);
    expect(names).toEqual([...names].sort());
  });

  it('a step on several nodes does other work than one with the same tasks on fewer', () => {
    const names = (tasks: FingerprintOptions['tasks']) =>
      explainDifference(print(), print('', { tasks })).map(({ name, after }) => [name, after]);
    expect(names(undefined)).toEqual([]);
    expect(names({ nodes: 2, perNode: 4 })).toEqual([['tasks', '2 x 4']]);
    expect(names({ nodes: 4, perNode: 2 })).toEqual([['tasks', '4 x 2']]);
  });

  it('explainDifference names the version alone where fingerprints were made by different rules', () => {
    const { digest, components } = print();
    const old = components.map(({ name, value }) => ({ name, value: name === 'version' ? '1' : `${value} of old` }));
    expect(explainDifference({ digest, components: old }, print('', { input: 'i2' }))).toEqual([
      { name: 'version', before: '1', after: '3' },
    ]);
  });

  it('explainDifference names the components that differ', () => {
    expect(explainDifference(print(), print('', { input: 'i2' }))).toEqual([
      { name: 'inputs.o', before: 'i1', after: 'i2' },
    ]);
    expect(explainDifference(print(), print(', image: img')).map(({ name }) => name)).toEqual(['image']);
    expect(explainDifference(print(), print())).toEqual([]);
    expect(print('', { ignore: ['A', 'o'], input: 'i2' })).toEqual(print('', { ignore: ['A', 'o'] }));
    expect(print('', { key: 'k' }).components.map(({ name }) => name)).toEqual([
      'inputs.o',
      'inputs.o.path',
      'key',
      'pipeline',
      'step',
      'version',
    ]);
  });
});
