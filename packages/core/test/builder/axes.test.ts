import { describe, expect, it } from 'vitest';
import { createPlan, type ExpressionHandle, expression, ok, parsePipeline, pipeline } from '../../src/index.ts';
import { readDocument } from '../../src/parse/read-document.ts';

interface Unit {
  readonly id: string;
  readonly sample: string;
  readonly fastq: string;
}

function samples() {
  const p = pipeline('samples', {
    params: {
      units: { type: 'array' },
      samples: [{ id: 'S1', control: '', antibody: 'CTCF', reads: 5, source: 'lab' }],
    },
    volumes: { raw: { source: './raw' } },
  });
  const unit = p.axis('unit', {
    items: expression<readonly Unit[]>('params.units'),
    key: (item) => item.id,
    of: { sample: 'sample' },
  });
  const sample = p.axis('sample', { items: p.params.samples, key: (item) => item.id });
  const antibody = p.axis('antibody', { distinct: [sample, 'antibody'] });
  const caller = p.axis('caller', ['bcftools', 'freebayes']);
  const part = p.axis('part', p.params.units);
  const align = p.step('align', {
    each: unit,
    command: ['align', unit.item.fastq, `--name=${unit.item.id}`],
    inputs: { reads: p.volumes.raw.at(unit.item.fastq) },
    outputs: ['bam'],
  });
  const merge = p.step('merge', {
    each: sample,
    command: ['merge'],
    inputs: { bam: align.outputs.bam },
    outputs: { bam: '/bam' },
    results: { reads: 'integer', good: 'boolean', parts: 'array' },
  });
  const good = p.step('good', {
    each: [sample],
    when: merge.cell.results.good,
    command: ['good', merge.cell.results.reads],
    inputs: { bam: merge.outputs.bam.at(`${sample.item.id}.bam`) },
    outputs: ['bam'],
  });
  const peaks = p.step('peaks', {
    each: sample,
    command: ['peaks', antibody.item],
    inputs: {
      ip: good.outputs.bam,
      control: { from: merge.outputs.bam, where: { sample: sample.item.control }, optional: true },
      all: { from: merge.outputs.bam, all: [sample] },
      either: [good.outputs.bam, merge.outputs.bam],
    },
    outputs: ['peaks'],
  });
  const call = p.step('call', {
    each: [sample, caller],
    command: ['call', caller.item],
    inputs: { both: { from: [good.outputs.bam, merge.outputs.bam], where: { sample: ['S1', sample.item.id] } } },
    outputs: ['vcf'],
  });
  p.step('consensus', { each: antibody, command: ['c'], inputs: { p: peaks.outputs.peaks } });
  p.step('table', {
    each: caller,
    final: true,
    command: ['t'],
    inputs: { vcf: { from: call.outputs.vcf, all: caller } },
  });
  p.step('report', { command: ['report', merge.results.reads], needs: call });
  return { p, unit, sample, antibody, caller, part, merge };
}

const FILE = `
version: 1
name: samples
params:
  units: { type: array }
  samples: [{ id: S1, control: "", antibody: CTCF, reads: 5, source: lab }]
volumes:
  raw: { source: ./raw }
axes:
  unit: { items: "\${{ params.units }}", key: "\${{ item.id }}", of: { sample: sample } }
  sample: { items: "\${{ params.samples }}", key: "\${{ item.id }}" }
  antibody: { distinct: sample.antibody }
  caller: [bcftools, freebayes]
  part: "\${{ params.units }}"
steps:
  align:
    each: unit
    command: [align, "\${{ each.unit.fastq }}", "--name=\${{ each.unit.id }}"]
    inputs: { reads: "volumes.raw/\${{ each.unit.fastq }}" }
    outputs: [bam]
  merge:
    each: sample
    command: [merge]
    inputs: { bam: align.bam }
    outputs: { bam: /bam }
    results: { reads: integer, good: boolean, parts: array }
  good:
    each: [sample]
    when: \${{ steps.merge.results.good }}
    command: [good, "\${{ steps.merge.results.reads }}"]
    inputs: { bam: "merge.bam/\${{ each.sample.id }}.bam" }
    outputs: [bam]
  peaks:
    each: sample
    command: [peaks, "\${{ each.antibody }}"]
    inputs:
      ip: good.bam
      control: { from: merge.bam, where: { sample: "\${{ each.sample.control }}" }, optional: true }
      all: { from: merge.bam, all: [sample] }
      either: [good.bam, merge.bam]
    outputs: [peaks]
  call:
    each: [sample, caller]
    command: [call, "\${{ each.caller }}"]
    inputs: { both: { from: [good.bam, merge.bam], where: { sample: [S1, "\${{ each.sample.id }}"] } } }
    outputs: [vcf]
  consensus: { each: antibody, command: [c], inputs: { p: peaks.peaks } }
  report: { command: [report, "\${{ steps.merge.results.reads }}"], needs: [call] }
finally:
  table: { each: caller, command: [t], inputs: { vcf: { from: call.vcf, all: caller } } }
`;

describe('axes of a builder', () => {
  it('axes and `each` give the document and the model of the file', () => {
    const read = readDocument('p.yaml', FILE);
    expect(read.ok && read.value.value).toEqual(samples().p.toJSON());
    const parsed = parsePipeline({ file: 'p.yaml', text: FILE });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
    const { locate: _locate, ...said } = parsed.value;
    expect(samples().p.safeBuild()).toEqual(ok(said));
  });

  it('a step with `each` builds', () => {
    const p = pipeline('p', { params: { samples: [{ id: 'S1', group: 'a' }] } });
    const sample = p.axis('sample', { items: p.params.samples, key: (item) => item.id });
    const group = p.axis('group', { distinct: [sample, 'group'] });
    const a = p.step('a', {
      each: sample,
      command: ['x', sample.item.id],
      outputs: ['out'],
      results: { n: 'integer' },
    });
    p.step('b', { each: sample, command: ['x', a.cell.results.n], inputs: { a: a.outputs.out } });
    p.step('c', { each: group, command: ['x', group.item], inputs: { a: a.outputs.out } });
    const plan = createPlan(p.build().pipeline);
    expect(plan.ok && plan.value.steps.map(({ cells }) => cells?.map(({ key }) => key))).toEqual([
      ['S1'],
      ['S1'],
      ['a'],
    ]);
  });

  it('the clusters of a placement can be fields of the item', () => {
    const p = pipeline('p');
    const sample = p.axis('sample', { items: [{ id: 'S1', at: 'west' }], key: (item) => item.id });
    p.step('a', { each: sample, command: ['x'], placement: { cluster: sample.item.at } });
    p.step('b', { each: sample, command: ['x'], placement: { anyOf: [sample.item.at, 'main'] } });
    expect(p.toJSON()).toMatchObject({
      steps: {
        a: { placement: { cluster: '${{ each.sample.at }}' } },
        b: { placement: { anyOf: ['${{ each.sample.at }}', 'main'] } },
      },
    });
    expect(p.build().pipeline.steps[1]!.perCell).toEqual({ placement: { anyOf: ['${{ each.sample.at }}', 'main'] } });
  });

  it('an axis over files gives the document of the file, and its items have a path', () => {
    const p = pipeline('files', { volumes: { raw: { source: './raw' } } });
    const reads = p.axis('reads', { items: { files: 'volumes.raw/*.gz' }, key: (item) => item.id });
    const path: ExpressionHandle<string> = reads.item.path;
    p.step('trim', { each: reads, command: ['trim', path], inputs: { raw: p.volumes.raw.at(path) } });
    expect(JSON.parse(JSON.stringify(p)).axes).toEqual({
      reads: { items: { files: 'volumes.raw/*.gz' }, key: '${{ item.id }}' },
    });
    const planned = createPlan(p.build().pipeline, { files: { reads: ['lane/a.gz'] } });
    expect(planned.ok && planned.value.steps[0]!.cells).toMatchObject([{ key: 'lane-a' }]);
  });

  it('a used pipeline gets the axes of `each`', () => {
    const p = pipeline('p');
    const sample = p.axis('sample', ['S1', 'S2']);
    const used = p.uses('sub', 'sub.yaml', { each: sample, outputs: ['bam'], results: { reads: 'integer' } });
    p.step('after', { each: sample, command: ['x', used.cell.results.reads], inputs: { bam: used.outputs.bam } });
    expect(p.toJSON()).toMatchObject({
      steps: { sub: { uses: 'sub.yaml', each: 'sample' }, after: { inputs: { bam: 'sub.bam' } } },
    });
  });

  it('fields of items have handles by any name, also in fields', () => {
    const p = pipeline('p');
    const sample = p.axis('sample', {
      items: [{ id: 'S1', meta: { 'read-group': 1, constructor: 'x' } }],
      key: '${{ item.id }}-${{ item.meta.constructor }}',
    });
    expect(String(sample.item.meta['read-group'])).toBe('${{ each.sample.meta["read-group"] }}');
    expect(JSON.stringify({ item: sample.item, name: sample.item.meta.constructor })).toBe(
      '{"item":"${{ each.sample }}","name":"${{ each.sample.meta.constructor }}"}',
    );
    expect(p.toJSON()).toMatchObject({ axes: { sample: { key: '${{ item.id }}-${{ item.meta.constructor }}' } } });
  });

  it('an axis is defined once, and handles of another builder are refused', () => {
    const p = pipeline('p');
    const sample = p.axis('sample', [{ id: 'S1' }]);
    expect(() => p.axis('sample', ['S2'])).toThrow(expect.objectContaining({ code: 'DUPLICATE_AXIS' }));
    const other = pipeline('other');
    for (const use of [
      () => other.step('a', { each: sample, command: ['x'] }),
      () => other.step('a', { command: ['x', sample.item.id] }),
      () => other.axis('group', { distinct: [sample, 'id'] }),
    ])
      expect(use).toThrow(expect.objectContaining({ code: 'FOREIGN_HANDLE' }));
  });

  it('wrong arguments are refused where they are written', () => {
    const p = pipeline('p');
    const sample = p.axis('sample', ['S1']);
    const a = p.step('a', { each: sample, command: ['x'], outputs: ['out'] });
    const where = { sample: undefined as never };
    expect(() => p.axis(1 as never, [])).toThrow('axis: the name must be a string');
    expect(() => p.axis('b', { distinct: 'sample.id' as never })).toThrow(
      'axis b: distinct must be an axis and the name of a field',
    );
    expect(() => p.step('b', { each: sample, command: ['x'], inputs: { o: { from: a.outputs.out, where } } })).toThrow(
      'step b: inputs.o.where.sample is undefined',
    );
    expect(() => p.step('c', { each: sample, matrix: { n: [1] } } as never, () => ({ command: ['x'] }))).toThrow(
      'step c: `each` excludes `matrix` and `foreach`',
    );
    expect(() => a.outputs.out.at(1 as never)).toThrow('at: the path must be a string');
  });

  it('the compiler knows the fields of items, and what a cell reads', () => {
    const { p, unit, sample, antibody, caller, part, merge } = samples();
    const compiledOnly = (): void => {
      const reads: ExpressionHandle<number> = sample.item.reads;
      const fastq: ExpressionHandle<string> = unit.item.fastq;
      const group: ExpressionHandle<string> = antibody.item;
      const name: ExpressionHandle<string> = caller.item;
      const size: ExpressionHandle<unknown> | undefined = part.item.size;
      const one: ExpressionHandle<number> = merge.cell.results.reads;
      const all: ExpressionHandle<readonly number[]> = merge.results.reads;
      void [reads, fastq, group, name, size, one, all];
      // @ts-expect-error there is no such field
      void sample.item.raeds;
      // @ts-expect-error a number is no text
      const text: ExpressionHandle<string> = sample.item.reads;
      // @ts-expect-error a handle has this name itself: the text of the expression
      const field: ExpressionHandle<string> = sample.item.source;
      void [text, field];
      // @ts-expect-error a text has no fields
      void caller.item.id;
      // @ts-expect-error there is no such field
      p.axis('x', { items: p.params.samples, key: (item) => item.name });
      // @ts-expect-error there is no such field
      p.axis('y', { items: p.params.samples, key: (item) => item.id, of: { unit: 'unit' } });
      // @ts-expect-error there is no such field
      p.axis('z', { distinct: [sample, 'group'] });
      // @ts-expect-error a step is no axis
      p.step('s', { each: merge, command: ['x'] });
      // @ts-expect-error a result of one cell is none of the run
      p.results({ reads: merge.cell.results.reads });
      // @ts-expect-error a number is no truth value
      p.step('t', { each: sample, command: ['x'], when: merge.cell.results.reads });
      // @ts-expect-error a step with `each` has no cells of its own
      p.step('u', { each: sample, matrix: { n: [1] } }, () => ({ command: ['x'] }));
    };
    expect(compiledOnly).toBeTypeOf('function');
  });
});

describe('a temporary output', () => {
  it('is the same as in a file', () => {
    const p = pipeline('temporary');
    const sample = p.axis('sample', ['S1', 'S2']);
    p.step('align', { each: sample, command: ['align'], outputs: { bam: { temporary: true } } });
    const { pipeline: built } = p.build();
    expect(built.steps[0]!.outputs.bam).toEqual({ path: '/out/bam', retain: false, temporary: true });
  });
});
