import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseYaml } from '../../src/parse/parse-yaml.ts';
import { readPlainYaml } from '../../src/parse/plain-yaml.ts';
import { yamlToJson } from '../../src/parse/yaml-to-json.ts';
import { DATA, itWithData, unpack } from '../data.ts';

const EXAMPLES = fileURLToPath(new URL('../../../../examples', import.meta.url));

/** What the whole parser says; undefined where it finds any fault. */
function readWhole(text: string): { value: unknown } | undefined {
  const { document, documents, faults } = parseYaml(text);
  if (document === undefined || documents !== 1 || faults.length > 0) return undefined;
  const { value, faults: conversion } = yamlToJson(document);
  return conversion.length > 0 ? undefined : { value };
}

/** Whether the text was plain; what was read of it must be what the whole parser reads. */
function compare(text: string): boolean {
  const plain = readPlainYaml(text);
  if (plain === undefined) return false;
  expect(plain, text).toEqual(readWhole(text));
  expect(JSON.stringify(plain.value), text).toBe(JSON.stringify(readWhole(text)?.value));
  return true;
}

function listYaml(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.ya?ml$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** Whatever stands in YAML, in pieces that fit together often enough. */
const PIECES = [
  'a: |',
  '- |-',
  'b: |-',
  'a: ',
  'b: ',
  'c:',
  '"q": ',
  "'s': ",
  '- ',
  '-',
  '? ',
  ': ',
  ':',
  '1',
  '-1',
  '01',
  '1.50',
  '.5',
  '1e3',
  '0x1f',
  '-0',
  '+1',
  'true',
  'null',
  '~',
  'Yes',
  '.inf',
  'text',
  'two words',
  'a:b',
  'http://x/y',
  '#',
  ' # note',
  '#no',
  '-e',
  '--flag',
  '15m',
  '${{ params.x }}',
  '[',
  ']',
  '{',
  '}',
  ', ',
  ',',
  '[a, b]',
  '{ a: 1, b: [2] }',
  '{a: 1}',
  '[]',
  '{}',
  '[a: b]',
  '"x\\n"',
  '"\\u0041"',
  '"open',
  "'it''s'",
  "'open",
  '&x ',
  '*x',
  '!!str ',
  '|',
  '>',
  '%',
  '@',
  '`',
  '<<: ',
  '---',
  '...',
  '\t',
  ' ',
  '__proto__: ',
  'ü',
  '数',
  '\u00a0',
  '\r',
  '=',
  '2026-11-21',
  '1_000',
  '1.2.3',
  '-.5',
  'é: ',
  '!',
  '&',
  '*',
];

const line = fc
  .tuple(fc.constantFrom(0, 0, 0, 1, 2, 2, 2, 4, 4, 6), fc.array(fc.constantFrom(...PIECES), { maxLength: 5 }))
  .map(([indent, pieces]) => `${' '.repeat(indent)}${pieces.join('')}`);

describe('readPlainYaml', () => {
  test('reads nothing otherwise than the whole parser', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
        compare(lines.join('\n'));
      }),
      { numRuns: 20_000 },
    );
  });

  test('reads flow collections as the whole parser does', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/), fc.jsonValue({ maxDepth: 3 }), { minKeys: 1 }),
        (map) => {
          const lines = Object.entries(map).map(
            ([key, value]) => `${key}: ${JSON.stringify(value).replace(/([,:])/g, '$1 ')}`,
          );
          compare(lines.join('\n'));
        },
      ),
    );
  });

  itWithData('reads every file of the test suite and of the collection as the whole parser, or not at all', () => {
    const files = [
      ...listYaml(unpack('yaml-test-suite/cases.tar.gz')),
      ...listYaml(fileURLToPath(new URL('pipelines', DATA))),
    ];
    expect(files.length).toBeGreaterThan(200);
    for (const file of files) compare(readFileSync(file, 'utf8'));
  });

  test('reads the usual ways of writing, and most examples', () => {
    const usual = [
      'version: 1 # ours',
      'name: "digits"',
      'steps:',
      '  fit:',
      '    command:',
      '      - node',
      "      - '--seed=${{ params.seed }}'",
      '      - --out=/model',
      '    inputs: { digits: prepare.digits, "x": volumes.raw/sub }',
      '    needs: [prepare, other]',
      '    matrix:',
      '      include:',
      '      - a: 1',
      '        b: [1.5, "two", true]',
      '      - a: -2',
      '    when:',
      '    script: |',
      '      echo "a: b" # no comment',
      '',
      '        - deeper',
      '      # content',
      '',
      '    # a comment',
      '    timeout: 15m',
      '',
    ].join('\n');
    expect(compare(usual)).toBe(true);
    const examples = listYaml(EXAMPLES).map((file) => compare(readFileSync(file, 'utf8')));
    expect(examples.filter((plain) => plain).length).toBeGreaterThan(examples.length / 2);
  });
});
