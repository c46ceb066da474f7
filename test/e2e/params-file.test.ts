import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execute, loadTable, pipeline } from 'sluice';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorkplace, type Workplace } from './workplace-rig.ts';

const PIPELINE = `version: 1
name: sheet
params:
  samples: { columns: { id: string, lanes: integer }, default: { file: samples.csv } }
  user: ada
axes: { sample: { items: "\${{ params.samples }}", key: "\${{ item.id }}" } }
defaults: { cache: true }
steps:
  align:
    each: sample
    script: echo "\${{ params.user }} \${{ each.sample.id }} \${{ each.sample.lanes + 1 }}" > /out/bam/x
    outputs: [bam]
  all: { inputs: { bam: align.bam }, script: 'cat /in/bam/*/x > /out/all/all', outputs: [all] }
outputs: { all: { from: all.all, publish: ./results } }
`;

let place: Workplace;

beforeEach(() => {
  place = createWorkplace();
  write('pipeline.yaml', PIPELINE);
  write('samples.csv', 'id,lanes\nS1,1\nS2,2\n');
});
afterEach(() => place.remove());

function write(file: string, text: string): void {
  writeFileSync(join(place.directory, file), text);
}

/** What each cell of `align` has done in the newest run. */
async function cells(): Promise<readonly string[]> {
  const { steps } = await place.show((await place.runs())[0]!.runId);
  const { cells } = steps.find(({ step }) => step === 'align')!;
  return cells.map(({ cell, status, reused }) => `${cell} ${reused ? 'reused' : status}`);
}

test('a table is the default of a list; a new row runs its own cell, a new column nothing', async () => {
  expect(await place.sluice('run')).toMatchObject({ exitCode: 0 });
  expect(place.read('results/all')).toBe('ada S1 2\nada S2 3\n');
  write('samples.csv', 'id,lanes,note\r\nS1,1,"a, b"\r\nS2,2,\r\nS3,3,new\r\n');
  expect(await place.sluice('run')).toMatchObject({ exitCode: 0 });
  expect(await cells()).toEqual(['S1 reused', 'S2 reused', 'S3 succeeded']);
});

test('a run records the values of its files, so that a rerun reads none of them again', async () => {
  write('other.tsv', 'id\tlanes\nS7\t7\n');
  write('params.yaml', 'user: eve\nsamples: []\n');
  const files = ['--params-file', 'params.yaml', '-p', 'samples=@other.tsv'];
  expect(await place.sluice('run', ...files)).toMatchObject({ exitCode: 0 });
  expect(place.read('results/all')).toBe('eve S7 8\n');
  for (const file of ['other.tsv', 'params.yaml']) rmSync(join(place.directory, file));
  expect(await place.sluice('rerun')).toMatchObject({ exitCode: 0 });
  expect(await cells()).toEqual(['S7 reused']);
  write('params.json', '{ "user": "@bob" }');
  expect(await place.sluice('rerun', '--params-file', 'params.json')).toMatchObject({ exitCode: 0 });
  expect(place.read('results/all')).toBe('@bob S7 8\n');
  const { order } = await place.show((await place.runs())[0]!.runId);
  expect(order?.params).toEqual({ user: '@bob', samples: '[{"id":"S7","lanes":7}]' });
  expect(await place.sluice('rerun', '--all')).toMatchObject({ exitCode: 0 });
  expect(place.read('results/all')).toBe('@bob S7 8\n');
});

test('a program reads tables with the types of their columns, and files of parameters', async () => {
  const columns = { id: 'string', lanes: 'integer' } as const;
  const samples = await loadTable(join(place.directory, 'samples.csv'), { columns });
  expect(samples.map(({ id, lanes }) => `${id.toLowerCase()} ${lanes + 1}`)).toEqual(['s1 2', 's2 3']);
  const p = pipeline('sheet', { params: { samples: { columns }, user: 'ada' } });
  const sample = p.axis('sample', { items: p.params.samples, key: (item) => item.id });
  const align = p.step('align', {
    each: sample,
    command: ['sh', '-c', 'echo $0 $1 $2 > /sluice/results/text', p.params.user, sample.item.id, sample.item.lanes],
    results: { text: 'string' },
  });
  const join_ = p.step('join', {
    command: ['sh', '-c', 'echo $0 > /sluice/results/all', align.results.text],
    results: { all: 'string' },
  });
  write('params.yaml', 'user: eve\n');
  const paramsFile = join(place.directory, 'params.yaml');
  const result = await execute(p, { home: place.home, params: { samples }, paramsFile });
  expect(result.of(join_).all).toContain('eve S1 1');
  const unknown = execute(p, { home: place.home, paramsFile: join(place.directory, 'samples.csv') });
  await expect(unknown).rejects.toThrow(/samples\.csv/);
});
