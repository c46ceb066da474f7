import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
// @ts-expect-error A script, which has no types.
import { createLlmsText } from '../../scripts/llms-text.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const text: string = createLlmsText(ROOT);
const lines = text.split('\n');
const links = lines
  .filter((line) => line.startsWith('- '))
  .map((line) => /^- \[([^\]]+)\]\(([^)\s]+)\): \S/.exec(line));

test('llms.txt has the form of llmstxt.org: a title, a summary, sections of links', () => {
  expect(lines.filter((line) => /^# |^> |^## /.test(line)).map((line) => line.slice(0, 12))).toEqual([
    '# Sluice',
    '> Sluice run',
    '## Documenta',
    '## Optional',
  ]);
  expect(links).not.toContain(null);
});

test('each link of llms.txt leads to a file of the repository, and each page of docs has one', () => {
  const base = 'https://raw.githubusercontent.com/sluice/sluice/main/';
  const paths = links.map((link) => link?.[2] ?? '');
  expect(paths.filter((path) => !path.startsWith(base) || !existsSync(join(ROOT, path.slice(base.length))))).toEqual(
    [],
  );
  const pages = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
  expect(pages.filter((name) => !paths.includes(`${base}docs/${name}`))).toEqual([]);
});
