import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parsePipeline } from '@sluice/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { listAxisFiles } from '../../src/data/list-axis-files.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-axis-files-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function pipelineOf(pattern: string, source = '{ path: ./raw, exclude: ["*.tmp.txt"] }') {
  const text = `version: 1\nname: p\nvolumes: { raw: { source: ${source} } }\naxes: { file: { items: { files: "volumes.raw/${pattern}" } } }\nsteps: { a: { each: file, inputs: { raw: volumes.raw }, command: [a] } }\n`;
  const parsed = parsePipeline({ file: 'p.yaml', text });
  if (!parsed.ok) throw new Error(parsed.error[0]!.message);
  return parsed.value.pipeline;
}

test('listAxisFiles gives the sorted paths that match, with links to files, without what is excluded or hidden', async () => {
  mkdirSync(join(directory, 'raw/lanes'), { recursive: true });
  for (const name of ['b.txt', 'a.txt', 'x.tmp.txt', '.hidden.txt', 'lanes/c.txt', 'notes.md'])
    writeFileSync(join(directory, 'raw', name), name);
  symlinkSync('a.txt', join(directory, 'raw/link.txt'));
  symlinkSync('nowhere', join(directory, 'raw/broken.txt'));
  const listed = await listAxisFiles(pipelineOf('*.txt'), directory);
  expect(listed).toEqual({ files: { file: ['a.txt', 'b.txt', 'link.txt'] }, diagnostics: [] });
  const deep = await listAxisFiles(pipelineOf('**/*.txt'), directory);
  expect(deep.files.file).toEqual(['a.txt', 'b.txt', 'lanes/c.txt', 'link.txt']);
});

test('listAxisFiles warns if no file matches, also without the source', async () => {
  const listed = await listAxisFiles(pipelineOf('*.gz', './absent'), directory);
  expect(listed.files).toEqual({ file: [] });
  expect(listed.diagnostics).toMatchObject([{ code: 'bad-axis', severity: 'warning' }]);
});

test('listAxisFiles reports a source that cannot be listed', async () => {
  mkdirSync(join(directory, 'raw'));
  symlinkSync('/etc', join(directory, 'raw/outside'));
  const listed = await listAxisFiles(pipelineOf('*'), directory);
  expect(listed.diagnostics).toMatchObject([{ code: 'bad-axis', severity: 'error' }]);
});
