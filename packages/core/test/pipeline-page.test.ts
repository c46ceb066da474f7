import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createPlan, parsePipeline, renderDiagnostic } from '../src/index.ts';
import { pipelineSchema } from '../src/schema/pipeline-schema.ts';
import { stepSchema } from '../src/schema/step-schema.ts';

const read = (name: string) => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8');
const page = read('pipeline.md');
/** The pages' own pipelines; others show what they are compared with. */
const examplesOf = (text: string) =>
  [...text.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, one]) => one ?? '').filter((one) => one.startsWith('version:'));

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

  it('names every key', () => {
    for (const key of [...Object.keys(pipelineSchema.shape), ...Object.keys(stepSchema.shape)]) {
      expect(page, key).toContain(`\`${key}\``);
    }
  });
});
