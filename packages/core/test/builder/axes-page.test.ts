import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import type { PipelineBuilder } from '../../src/index.ts';
import { readDocument } from '../../src/parse/read-document.ts';

const PROGRAMS = new URL(`../../.cache/axes-page-${process.pid}/`, import.meta.url);

afterAll(() => rmSync(PROGRAMS, { recursive: true, force: true }));

it('the program with axes in docs/library.md gives the document of the file beside it', async () => {
  const page = readFileSync(new URL('../../../../docs/library.md', import.meta.url), 'utf8');
  const [, section = ''] = /^## Axes$(.*?)^## /ms.exec(page) ?? [];
  const [code = '', file = ''] = ['ts', 'yaml'].map(
    (language) => new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(section)?.[1],
  );
  mkdirSync(PROGRAMS, { recursive: true });
  const program = new URL('program.ts', PROGRAMS);
  writeFileSync(program, `${code.replace("from 'sluice'", "from '../../src/index.ts'")}\nexport { p };\n`);
  const { p } = (await import(/* @vite-ignore */ program.pathname)) as { p: PipelineBuilder<unknown, unknown> };
  const read = readDocument('pipeline.yaml', file);
  expect(read.ok && read.value.value).toEqual(p.toJSON());
  expect(p.build().warnings).toEqual([]);
});
