import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import * as library from '../../src/index.ts';
import * as runApi from '../../src/run-api.ts';
import { compile } from './compile.ts';

const PACKAGES = fileURLToPath(new URL('../../..', import.meta.url));
const SOURCES = ['core/src', 'client/src', 'cli/src/library', 'cli/src/run-api'].flatMap((directory) => {
  const root = join(PACKAGES, directory);
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(root, name), 'utf8'));
});

/** The examples in the comment before the definition of an export. */
function findExamples(name: string): string[] {
  const definition = new RegExp(
    `/\\*\\*(?:(?!\\*/)(?:.|\\n))*\\*/\\nexport (?:async )?(?:function|class|const) ${name}\\b`,
  );
  const comment = SOURCES.flatMap((text) => definition.exec(text)?.[0] ?? []).join('\n');
  const last = comment.slice(comment.lastIndexOf('/**'));
  return [...last.matchAll(/^ \* ```ts\n((?:.|\n)*?)^ \* ```$/gm)].map(([, code = '']) => code.replace(/^ \* ?/gm, ''));
}

test('every function and class of the library has an example in its documentation, and all compile', () => {
  const found = Object.keys({ ...library, ...runApi }).map((name) => [name, findExamples(name)] as const);
  expect(found.filter(([, examples]) => examples.length === 0).map(([name]) => name)).toEqual([]);
  const programs = found.flatMap(([name, examples]) =>
    examples.map((code, index) => [`${name}-${index}.ts`, code] as const),
  );
  expect(compile(Object.fromEntries(programs))).toBe('');
});

test('the programs of docs/library.md and docs/run-api.md compile', () => {
  const pages = ['library', 'run-api'].map((name) => readFileSync(join(PACKAGES, `../docs/${name}.md`), 'utf8'));
  const blocks = [...pages.join('\n').matchAll(/^```ts\n((?:.|\n)*?)^```$/gm)].map(([, code = '']) => code);
  const programs = blocks.filter((code) => /from 'sluice[/']/.test(code));
  expect(programs.length).toBeGreaterThan(1);
  expect(compile(Object.fromEntries(programs.map((code, index) => [`page-${index}.ts`, code])))).toBe('');
});
