import { expect, test } from 'vitest';
import { createPlan, fail, ok, parsePipeline } from '../../src/index.ts';

const STEPS = 'steps: { a: { command: [a] } }\n';

function load(text: string, files: Readonly<Record<string, string>> = {}) {
  const read = (path: string) => {
    const found = files[path];
    return found === undefined ? fail('the file does not exist') : ok(found);
  };
  const parsed = parsePipeline({ file: 'dir/p.yaml', text: `version: 1\nname: p\n${text}${STEPS}`, read });
  if (!parsed.ok) {
    return parsed.error.map(({ range, message }) => `${range?.file}:${range?.line}:${range?.column}: ${message}`);
  }
  const planned = createPlan(parsed.value.pipeline);
  return planned.ok ? planned.value.params : planned.error.map(({ message }) => message);
}

test('loadDefaults reads the table of a list, beside the file of the parameter', () => {
  const text = 'params: { s: { type: array, columns: { n: integer }, default: { file: t/s.csv } } }\n';
  expect(load(text, { 'dir/t/s.csv': 'id,n\nA,1\n' })).toEqual({ s: [{ id: 'A', n: 1 }] });
  const including = { 'dir/x/common.yaml': text, 'dir/x/t/s.csv': 'id,n\nB,2\n' };
  expect(load('include: x/common.yaml\n', including)).toEqual({ s: [{ id: 'B', n: 2 }] });
});

test('loadDefaults reads lists in YAML and JSON', () => {
  const text = 'params: { s: { type: array, default: { file: s.yaml } } }\n';
  expect(load(text, { 'dir/s.yaml': '- 1\n- a\n' })).toEqual({ s: [1, 'a'] });
  expect(load(text, { 'dir/s.yaml': 'a: 1\n' })).toEqual([
    'dir/p.yaml:3:46: could not use s.yaml as a default: it does not contain a list',
  ]);
});

test('loadDefaults reads the table of a used pipeline', () => {
  const used = `version: 1\nname: u\nparams: { s: { type: array, default: { file: s.csv } } }
steps: { b: { foreach: "\${{ params.s }}", command: [b, "\${{ item.id }}"] } }\n`;
  const parsed = parsePipeline({
    file: 'p.yaml',
    text: 'version: 1\nname: p\nsteps: { a: { uses: sub/u.yaml } }\n',
    read: (path) => (path === 'sub/u.yaml' ? ok(used) : path === 'sub/s.csv' ? ok('id\nA\n') : fail('no')),
  });
  expect(parsed.ok && parsed.value.pipeline.bound).toMatchObject({ s_0: { value: [{ id: 'A' }] } });
});

test('loadDefaults leaves the default of a map as it is', () => {
  expect(load('params: { s: { type: object, default: { file: x.csv } }, t: { file: y.csv } }\n')).toEqual({
    s: { file: 'x.csv' },
    t: { file: 'y.csv' },
  });
});

test.each([
  [
    '{ type: array, default: { file: no.csv } }',
    ['could not read the default of parameter `s` from no.csv: the file does not exist'],
  ],
  ['{ type: array, default: { file: bad.csv } }', ['the row has 1 value, but the first row names 2 columns']],
  [
    '{ columns: { id: text }, default: { file: s.csv } }',
    ['`params.s.columns.id` is "text" instead of one of string, integer, number, boolean'],
  ],
  ['{ columns: { n: integer }, default: { file: s.csv } }', ['column `n` is "x", which is not of type integer']],
  [
    '{ type: object, columns: { n: integer } }',
    ['parameter `s` has `columns`, but its type is object instead of array'],
  ],
  [
    '{ columns: { n: integer }, default: [{ n: 1 }, { n: a }] }',
    ['the default of parameter `s` has "a" in column `n` in row 2, which is not of type integer'],
  ],
  ['{ columns: { n: integer }, default: [{ m: 1 }] }', ['the default of parameter `s` has no column `n` in row 1']],
])('the parameter %s is an error', (param, messages) => {
  const files = { 'dir/s.csv': 'id,n\nA,x\n', 'dir/bad.csv': 'id,n\nA\n' };
  const found = load(`params: { s: ${param} }\n`, files);
  expect(found).toEqual(messages.map((message) => expect.stringContaining(message)));
});

test('a column of numbers contains doubles, also where its values are whole', () => {
  const text = `version: 1\nname: p\nparams: { s: { columns: { rate: number }, default: [{ rate: 1 }] } }
steps: { a: { when: "\${{ params.s[0].rate / 2.0 > 0.4 }}", command: [a] } }\n`;
  expect(parsePipeline({ file: 'p.yaml', text })).toMatchObject({ ok: true });
});
