import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createPlan,
  fail,
  type Json,
  ok,
  type Plan,
  parsePipeline,
  type RunContext,
  resolveContainer,
  resolveDecision,
} from '../../src/index.ts';
import { readDocument } from '../../src/parse/read-document.ts';
import { isPlainStep } from '../../src/schema/is-plain-step.ts';
import { stepSchema } from '../../src/schema/step-schema.ts';

const ROOT = new URL('../../../../', import.meta.url);
/** Good pipelines to damage: every example of the reference, and those that run. */
const examples = [
  ...[...readFileSync(new URL('docs/pipeline.md', ROOT), 'utf8').matchAll(/^```yaml\n(.*?)^```$/gms)].map(
    ([, text]) => text ?? '',
  ),
  ...readdirSync(new URL('examples/', ROOT), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('pipeline.yaml'))
    .sort()
    .map((name) => readFileSync(new URL(`examples/${name}`, ROOT), 'utf8')),
];
const documents = examples.map((text) => {
  const read = readDocument('p.yaml', text);
  if (!read.ok) throw new Error(text);
  return read.value.value;
});

const strange: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(
    null,
    true,
    0,
    -1,
    1.5,
    1e300,
    '',
    'x',
    'a.b',
    'volumes.x',
    '${{ }}',
    '${{ steps.a.results.b }}',
    '${{ params.x + 1 }}',
    '1h',
    '[',
    '\u0000',
    'a/../../b',
    'x'.repeat(300),
    '日本 é',
    `${'9'.repeat(400)}d`,
    '${{ [1].map(x, [x, x]).map(x, [x, x]) }}',
    '${{ steps[params.x] }}',
    "${{ secrets.A + 'x' }}",
    '${{ 1 // x',
    -0,
    Number.MAX_VALUE,
    Number.MAX_SAFE_INTEGER,
    Array.from({ length: 70 }).reduce((inner: Json) => [inner], 1),
    {},
    [],
    [null],
    { a: null },
  ),
  fc.constantFrom<Json>(
    { from: 'a.b' },
    { type: 'integer' },
    ['succeeded'],
    { limit: 2 },
    { include: [{ a: 1 }] },
    { https: {} },
    { ready: { port: 'x' } },
  ),
);

/** A copy in which one value, chosen by a walk, is another. */
function damage(value: Json, walk: readonly number[], put: Json): Json {
  const [step, ...rest] = walk;
  if (step === undefined || typeof value !== 'object' || value === null) return put;
  if (Array.isArray(value)) {
    return value.length === 0
      ? [put]
      : value.map((item: Json, index) => (index === step % value.length ? damage(item, rest, put) : item));
  }
  const keys = Object.keys(value);
  const key = keys[step % Math.max(1, keys.length)];
  if (key === undefined) return { added: put };
  const map = value as Readonly<Record<string, Json>>;
  const at = step % Math.max(1, keys.length);
  // Some walks end in a key that goes, stands twice under another name, or has changed places with its neighbour.
  if (rest.length === 1 && put === null)
    return Object.fromEntries(Object.entries(map).filter(([name]) => name !== key));
  if (rest.length === 1 && put === true) return { ...map, [`${key}-2`]: map[key] ?? null, [key.toUpperCase()]: put };
  if (rest.length === 1 && put === 0) return { ...map, [key]: map[keys[at + 1] ?? key] ?? null };
  return { ...map, [key]: damage(map[key] ?? null, rest, put) };
}

const FILES: Readonly<Record<string, Json>> = {
  'main.json': {
    version: 1,
    name: 'main',
    include: ['part.json'],
    volumes: { all: {} },
    steps: {
      sub: {
        uses: 'sub.json',
        with: { n: '${{ params.n }}' },
        inputs: { raw: 'volumes.all' },
        needs: ['one'],
        when: '${{ params.n > 1 }}',
      },
      lent: { uses: 'step.json', with: { n: 4 }, env: { A: 'b' } },
      last: { command: ['x'], inputs: { model: 'sub.model' }, needs: { sub: 'completed' } },
    },
    outputs: { model: 'sub.model' },
  },
  'part.json': { params: { n: 3 }, secrets: ['T'], steps: { one: { command: ['x'] } } },
  'sub.json': {
    version: 1,
    name: 'sub',
    params: { n: { type: 'integer' } },
    volumes: { raw: {} },
    defaults: { env: { D: 'd' } },
    steps: {
      a: {
        command: ['x', '${{ params.n }}'],
        inputs: { raw: 'volumes.raw' },
        outputs: { o: '/o' },
        results: { r: 'integer' },
      },
      b: { command: ['x', '${{ steps.a.results.r }}'], inputs: { o: 'a.o' }, outputs: { m: '/m' } },
    },
    finally: { c: { command: ['x'] } },
    outputs: { model: 'b.m' },
  },
  'step.json': { params: { n: { type: 'integer' } }, command: ['x', '${{ params.n }}'] },
};

function survives(text: string, file: string, files: ReadonlyMap<string, string> = new Map()): void {
  const read = (path: string) => (files.has(path) ? ok(files.get(path) ?? '') : fail('there is no such file'));
  const parsed = parsePipeline({ file, text, read });
  if (parsed.ok) {
    const plan = createPlan(parsed.value.pipeline);
    if (plan.ok) evaluateAll(plan.value);
  } else {
    expect(parsed.error.length).toBeGreaterThan(0);
    for (const { message, range } of parsed.error) {
      expect(message).not.toMatch(/undefined|\[object|NaN/);
      expect(message).not.toMatch(/\.$/);
      expect(range).toBeDefined();
    }
  }
}

/** Results as a step might leave them, whatever was declared. */
const LEFT: readonly Json[] = [
  null,
  'a\u0000b',
  [],
  [[1, 2], 'A b', 'a-b', { a: null }],
  { deep: { er: [] } },
  1e300,
  -0,
];

function evaluateAll(plan: Plan): void {
  for (const left of LEFT) {
    const results = Object.fromEntries(
      plan.steps.flatMap(({ step }) => Object.keys(step.results)).map((name) => [name, left]),
    );
    const context: RunContext = {
      run: { id: 'r', name: 'n', plannedTime: '2026-11-21T02:30:00Z' },
      attempt: 1,
      steps: () => (left === null ? undefined : { status: 'succeeded', results, ports: {}, outputs: {} }),
    };
    for (const { index, cells } of plan.steps) {
      const decision = resolveDecision(plan, index, context);
      const open = (decision.ok ? decision.value.cells : undefined) ?? cells ?? [];
      expect(new Set(open.map(({ key }) => key)).size).toBe(open.length);
      for (const cell of open.slice(0, 3)) resolveContainer(plan, index, { cell, context });
    }
  }
}

describe('parsePipeline of damaged pipelines', () => {
  it('parsePipeline says what is wrong with any value in any place, and never throws', () => {
    const walk = fc.array(fc.nat(12), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(
        fc.constantFrom(...documents),
        fc.array(fc.tuple(walk, strange), { minLength: 1, maxLength: 3 }),
        (document, changes) => {
          const damaged = changes.reduce((value, [where, put]) => damage(value, where, put), document);
          survives(JSON.stringify(damaged), 'p.json');
        },
      ),
      { numRuns: 400 },
    );
  });

  it('parsePipeline survives damage in a pipeline of several files, whichever it hits', () => {
    const [main, ...others] = Object.keys(FILES);
    fc.assert(
      fc.property(
        fc.constantFrom(main ?? '', ...others),
        fc.array(fc.tuple(fc.array(fc.nat(12), { minLength: 1, maxLength: 5 }), strange), { maxLength: 2 }),
        (file, changes) => {
          const files = new Map(
            Object.entries(FILES).map(([name, value]) => [
              name,
              JSON.stringify(
                name === file ? changes.reduce((rest, [where, put]) => damage(rest, where, put), value) : value,
              ),
            ]),
          );
          survives(files.get('main.json') ?? '', 'main.json', files);
        },
      ),
      { numRuns: 400 },
    );
  });

  it('parsePipeline survives files with pieces cut out, doubled and swapped', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...examples),
        fc.nat(),
        fc.nat(60),
        fc.constantFrom(
          '',
          '\n',
          '  ',
          '"',
          "'",
          '{',
          ']',
          ': ',
          '- ',
          '&a ',
          '*a ',
          '<<: ',
          '#',
          '\t',
          '\u0000',
          '!!x ',
        ),
        (text, at, length, put) => {
          const start = at % text.length;
          survives(`${text.slice(0, start)}${put}${text.slice(start + length)}`, 'p.yaml');
          survives(`${text.slice(0, start + length)}${put}${text.slice(start)}`, 'p.yaml');
        },
      ),
      { numRuns: 120 },
    );
  });
});

describe('isPlainStep', () => {
  it('isPlainStep accepts only what the schema accepts', () => {
    const value = fc.oneof(
      strange,
      fc.constantFrom<Json>(
        'sh',
        ['a', 'b'],
        { A: 'x' },
        { 'a b': 'x' },
        { data: 'a.b' },
        { out: '/out' },
        ['a', 'A'],
        5,
        true,
        '90s',
        { __proto__: 'x' },
      ),
    );
    const key = fc.constantFrom(
      'description',
      'image',
      'command',
      'script',
      'env',
      'inputs',
      'outputs',
      'needs',
      'instanceType',
      'timeout',
      'cache',
      'priority',
      'retry',
      'constructor',
    );
    let plain = 0;
    fc.assert(
      fc.property(
        fc.constantFrom('a', 'step-1', 'A', '', 'a b'),
        fc.dictionary(key, value, { maxKeys: 5 }),
        (name, step) => {
          if (!isPlainStep(name, step)) return;
          plain++;
          expect(name).toMatch(/^[a-z0-9-]+$/);
          expect(stepSchema.safeParse(step).error?.issues).toBeUndefined();
        },
      ),
      { numRuns: 5000 },
    );
    expect(plain).toBeGreaterThan(100);
  });
});
