// The pipeline of examples/samples as a program (docs/library.md): the compiler knows the columns of the tables and the results.
// Try `sample.item.contrl` or `merge.cell.results.counts`: it does not compile.
import { join } from 'node:path';
import { type Connection, execute, expression, loadTable, pipeline } from 'sluice';

const SAMPLES = { id: 'string', control: 'string', group: 'string' } as const;
const UNITS = { id: 'string', sample: 'string', text: 'string' } as const;

const p = pipeline('samples', {
  params: {
    min: 2,
    samples: { columns: SAMPLES },
    units: { columns: UNITS },
  },
  defaults: { cache: true },
});
const sample = p.axis('sample', { items: p.params.samples, key: (item) => item.id });
const unit = p.axis('unit', { items: p.params.units, key: (item) => item.id, of: { sample: 'sample' } });
const group = p.axis('group', { distinct: [sample, 'group'] });

const align = p.step('align', {
  each: unit,
  command: ['sh', '-c', 'echo "$0" | tr " " "\\n" > /out/words/words.txt', unit.item.text],
  outputs: { words: { temporary: true } },
});
const merge = p.step('merge', {
  each: sample,
  inputs: { words: align.outputs.words },
  script: 'cat /in/words/*/words.txt | tee /out/words/words.txt | wc -l > /sluice/results/count',
  outputs: ['words'],
  results: { count: 'integer' },
});
const good = p.step('good', {
  each: sample,
  when: expression<boolean>('steps.merge.results.count >= params.min'),
  inputs: { words: merge.outputs.words },
  script: 'sort -r /in/words/words.txt > /out/words/words.txt',
  outputs: ['words'],
});
const compare = p.step('compare', {
  each: sample,
  when: expression<boolean>("each.sample.control != ''"),
  inputs: {
    words: [good.outputs.words, merge.outputs.words],
    control: { from: merge.outputs.words, where: { sample: sample.item.control } },
  },
  script: 'cat /in/words/words.txt /in/control/words.txt > /out/both/both.txt',
  outputs: ['both'],
});
const summary = p.step('summary', {
  each: group,
  inputs: { both: compare.outputs.both },
  script: 'cat /in/both/*/both.txt | wc -l > /sluice/results/lines',
  results: { lines: 'integer' },
});

const split = p.step('split', {
  each: sample,
  inputs: { words: merge.outputs.words },
  script: `split -l 1 /in/words/words.txt /out/parts/part-
ls /out/parts | sed 's/.*/"&"/' | paste -sd, | sed 's/.*/[&]/' > /sluice/results/parts`,
  outputs: { parts: { temporary: true } },
  results: { parts: 'array' },
});
const part = p.axis('part', { items: expression<readonly string[]>('steps.split.results.parts') });
const work = p.step('work', {
  each: part,
  inputs: { parts: split.outputs.parts },
  command: ['sh', '-c', 'tr abc xyz < "/in/parts/$0" > /out/done/done.txt', part.item],
  outputs: { done: { temporary: true } },
});
const joined = p.step('join', {
  each: sample,
  inputs: { done: work.outputs.done },
  script: "cat /in/done/*/done.txt | tr '\\n' ' ' > /sluice/results/text",
  results: { text: 'string' },
});

/** Runs the pipeline with the tables in a directory. Returns the words and the text of each sample, and the lines of each group. */
export async function countWords(directory: string, options: { home?: string; service?: Connection } = {}) {
  const samples = await loadTable(join(directory, 'samples.csv'), { columns: SAMPLES });
  const units = await loadTable(join(directory, 'units.csv'), { columns: UNITS });
  const result = await execute(p, { ...options, params: { samples, units } });
  const texts = result.of(joined).text;
  const words = result
    .of(merge)
    .count.map((count, index) => `${samples[index]?.id}: ${count}, ${texts[index]?.trim()}`);
  return { status: result.status, words, lines: result.of(summary).lines };
}
