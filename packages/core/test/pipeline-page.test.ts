import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createPlan, type Json, ok, parsePipeline, pipelineJsonSchema, renderDiagnostic } from '../src/index.ts';
import { paramSchema, pipelineSchema } from '../src/schema/pipeline-schema.ts';
import { stepSchema } from '../src/schema/step-schema.ts';

const read = (name: string) => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8');
const page = read('pipeline.md');
/** The pages' own pipelines; others show what they are compared with. */
const examplesOf = (text: string) =>
  [...text.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, one]) => one ?? '').filter((one) => one.startsWith('version:'));

/** The places of all keys in a JSON Schema; `*` is any name of a map. */
function schemaPaths(schema: Json | undefined, at = ''): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  if (Array.isArray(schema)) return schema.flatMap((one) => schemaPaths(one, at));
  const { properties, additionalProperties, items, anyOf } = schema as { readonly [key: string]: Json };
  return [
    ...Object.entries(properties ?? {}).flatMap(([key, one]) => [`${at}${key}`, ...schemaPaths(one, `${at}${key}.`)]),
    ...schemaPaths(additionalProperties, `${at}*.`),
    ...schemaPaths(items, at),
    ...(at === '' ? [] : schemaPaths(anyOf, at)),
  ];
}

/** The places of all keys in a file. A name of a map is also `*`. */
function pathsIn(value: unknown, at: readonly string[] = ['']): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => pathsIn(one, at));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => {
    const places = at.flatMap((place) => [`${place}${key}`, `${place}*`]);
    return [
      ...places,
      ...pathsIn(
        one,
        places.map((place) => `${place}.`),
      ),
    ];
  });
}

describe('docs/pipeline.md', () => {
  const examples = [...examplesOf(page), ...examplesOf(read('coming-from.md'))];

  it('has its examples, and coming-from.md one', () => expect(examples).toHaveLength(13));

  for (const text of examples) {
    const name = /^name: (\S+)$/m.exec(text)?.[1] ?? text;
    it(`example ${name} is read without a word and can be planned`, () => {
      const parsed = parsePipeline({ file: 'pipeline.yaml', text });
      const said = (parsed.ok ? parsed.value.warnings : parsed.error).map((diagnostic) =>
        renderDiagnostic(diagnostic, { text }),
      );
      expect(said).toEqual([]);
      if (parsed.ok)
        expect(
          createPlan(parsed.value.pipeline, { params: name === 'parameters' ? { 'run-label': 'x' } : {} }).ok,
        ).toBe(true);
    });
  }

  describe('the file with all keys', () => {
    const [, text = ''] = /^## All keys\n.*?^```yaml\n(.*?)^```$/ms.exec(page) ?? [];

    it('is read without a word and can be planned', () => {
      const files: Readonly<Record<string, string>> = {
        'common.yaml': 'pools: { shared: 1 }\n',
        'align.yaml': 'params: { rate: 1 }\ncommand: [align, "${{ params.rate }}"]\n',
      };
      const parsed = parsePipeline({ file: 'pipeline.yaml', text, read: (path) => ok(files[path] ?? '') });
      expect(parsed.ok ? parsed.value.warnings : parsed.error).toEqual([]);
      expect(parsed.ok && createPlan(parsed.value.pipeline, { files: { table: ['a.csv'] } }).ok).toBe(true);
    });

    it('has every key of the schema, at each place of it', () => {
      // The same keys at the top level and in a step, and in both kinds of steps.
      const merge = (path: string) =>
        path.replace(/^finally\./, 'steps.').replace(/^steps\.\*\.placement/, 'placement');
      const found = new Set(pathsIn(parse(text)).map(merge));
      const wanted = [
        ...schemaPaths(pipelineJsonSchema()).filter((path) => !path.startsWith('defaults.')),
        ...Object.keys(paramSchema.shape).map((key) => `params.*.${key}`),
      ].map(merge);
      expect(wanted).toContain('steps.*.retry.backoff.factor');
      // Instead of `port`, which the page says; the keys of an escalation are those of `resources`, and all limits have the
      // same two forms.
      const others =
        /^steps\.\*\.(service\.ready\.command|retry\.escalate\.\w+|docker\.ulimits\.(?!nofile$|memlock\b)\S+)$/;
      expect(wanted.filter((path) => !found.has(path) && !others.test(path))).toEqual([]);
    });

    it('has a comment of one word for every key that stands alone in its line', () => {
      const bare = text.split('\n').filter((line) => /^ *[$\w]+:/.test(line) && !/ # [\w-]+$/.test(line));
      expect(bare.filter((line) => !/^ {2}\w+:$|^ {2}(rate|mode): |retry: /.test(line))).toEqual([]);
    });
  });

  it('names every key', () => {
    for (const key of [...Object.keys(pipelineSchema.shape), ...Object.keys(stepSchema.shape)]) {
      expect(page, key).toContain(`\`${key}\``);
    }
  });
});
