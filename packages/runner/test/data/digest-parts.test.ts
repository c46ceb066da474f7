import { createPlan, parsePipeline } from '@sluice/core';
import { expect, test } from 'vitest';
import { digestParts } from '../../src/data/digest-parts.ts';
import type { ScannedSource } from '../../src/trees/scan-source.ts';

const text = `version: 1
name: p
volumes: { raw: { source: ./raw }, other: { source: ./other } }
params: { samples: [{ id: S1, reads: reads/S1 }, { id: S2, reads: reads/S2.fastq }] }
axes: { sample: { items: "\${{ params.samples }}", key: "\${{ item.id }}" } }
steps:
  align: { each: sample, inputs: { reads: "volumes.raw/\${{ each.sample.reads }}" }, command: [x] }
  index: { inputs: { genome: volumes.raw/genome, all: volumes.raw, other: volumes.other/x }, command: [x] }
  late: { inputs: { none: volumes.raw/missing, linked: volumes.raw/link/below }, command: [x] }
`;
const parsed = parsePipeline({ file: 'p.yaml', text });
const planned = parsed.ok ? createPlan(parsed.value.pipeline) : parsed;
if (!planned.ok) throw new Error(JSON.stringify(planned.error));
const plan = planned.value;

/** A source with files of these contents by their paths. */
function scan(contents: Readonly<Record<string, string>>, more: Partial<ScannedSource> = {}): ScannedSource {
  const files = Object.keys(contents)
    .sort()
    .map((path) => ({ path, local: path, size: 1, executable: false, sha256: contents[path]! }));
  return { files, links: [], emptyDirectories: [], warnings: [], digest: 'd', ...more };
}

const digest = (scanned: ScannedSource) => digestParts(plan, { volume: 'raw', scanned });
const CONTENTS = { 'genome/a': 'g', 'reads/S1/1': 'a', 'reads/S1/2': 'b', 'reads/S2.fastq': 'c', 'link/below': 'l' };

/** The paths whose digests differ from those of `CONTENTS`. */
function changed(scanned: ScannedSource): readonly string[] {
  const [before, after] = [digest(scan(CONTENTS)), digest(scanned)];
  return Object.keys(before).filter((path) => before[path] !== after[path]);
}

test('digestParts describes each path that an input names, and nothing else', () => {
  expect(Object.keys(digest(scan(CONTENTS))).sort()).toEqual(['genome', 'link/below', 'reads/S1', 'reads/S2.fastq']);
  expect(digestParts(plan, { volume: 'other', scanned: scan({ y: '1' }) })).toEqual({});
});

test('digestParts changes with the content at the path, and not with what is beside it', () => {
  expect(
    changed(scan({ ...CONTENTS, 'reads/S1-2/1': 'x', 'reads/S1.bai': 'x', 'reads/S3': 'x', 'reads/S1!': 'x' })),
  ).toEqual([]);
  expect(changed(scan({ ...CONTENTS, 'reads/S1/2': 'x' }))).toEqual(['reads/S1']);
  expect(changed(scan({ ...CONTENTS, 'reads/S1/sub/3': 'x' }))).toEqual(['reads/S1']);
  expect(changed(scan({ ...CONTENTS, 'reads/S2.fastq': 'x' }))).toEqual(['reads/S2.fastq']);
  expect(changed(scan(CONTENTS, { emptyDirectories: ['genome/empty', 'genomes'] }))).toEqual(['genome']);
  const { files } = scan(CONTENTS);
  const executable = files.map((file) => ({ ...file, executable: file.path === 'genome/a' }));
  expect(changed(scan(CONTENTS, { files: executable }))).toEqual(['genome']);
});

test('digestParts says nothing of a path with a link, or behind one', () => {
  const link = (path: string) => ({ path, target: '../store', reaches: 'dir' as const });
  const parts = digest(scan(CONTENTS, { links: ['link', 'reads/S1/3', 'reads/S2.fastq', 'genomes'].map(link) }));
  expect(Object.keys(parts)).toEqual(['genome']);
});
