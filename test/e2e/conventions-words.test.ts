import { readdirSync, readFileSync } from 'node:fs';
import { pipelineJsonSchema } from '@sluice/core';
import { expect, test } from 'vitest';
import { createCommandLine } from '../../packages/cli/src/command-line/create-command-line.ts';
import { createTestContext } from '../../packages/cli/test/recording-terminal.ts';
import { ROUTES } from '../../packages/host/src/api/add-run-api.ts';
import { API_PREFIX, renderOpenApi } from '../../packages/host/src/api/openapi.ts';

const at = (path: string) => new URL(`../../${path}`, import.meta.url);
const read = (path: string) => readFileSync(at(path), 'utf8');

type Command = ReturnType<typeof createCommandLine>['program'];

/** All keys and all texts in a JSON value. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...textsIn(inner)]);
}

function commandsOf(group: Command): Command[] {
  return group.commands.flatMap((command) => [command, ...commandsOf(command)]);
}

const { program } = createCommandLine(createTestContext({ cwd: '/' }));
const commands = commandsOf(program);
const longOf = (command: Command) => command.options.map(({ long }) => long);

/** `COMMAND`, `--option` of any command, or `COMMAND --option`. Words in capitals are placeholders. */
function isCommand(words: string): boolean {
  const [first = '', option] = words.split(' ');
  if (/^[A-Z/]+$/.test(words)) return true;
  if (first.startsWith('--')) return commands.some((command) => longOf(command).includes(first));
  const command = commands.find((one) => one.name() === first);
  return command !== undefined && (option === undefined || longOf(command).includes(option));
}

const schemas = readdirSync(at('packages/cli/schemas')).flatMap((name) =>
  textsIn(JSON.parse(read(`packages/cli/schemas/${name}`))),
);
// What expressions read of a step is in no schema.
const file = new Set([...textsIn(pipelineJsonSchema()), 'status', 'reason', 'reused']);
const json = new Set(schemas);
const openApi = renderOpenApi(ROUTES, API_PREFIX) as { paths: object };
const http = new Set(textsIn(openApi));
const paths = Object.keys(openApi.paths);
const library = ['cli', 'core', 'run'].map((name) => read(`packages/${name}/api-report.md`)).join('\n');
const sources = readdirSync(at('packages/dashboard/src'), { recursive: true })
  .map(String)
  .filter((name) => /\.tsx?$/.test(name));
const dashboard = sources
  .map((name) => read(`packages/dashboard/src/${name}`))
  .join('\n')
  .replaceAll(/\/\*.*?\*\/|\/\/[^\n]*|^import [^\n]*/gms, '');
const hasWord = (text: string, word: string) => new RegExp(`\\b${word}\\b`).test(text);

const CHECKS: Readonly<Record<string, (word: string) => boolean>> = {
  file: (word) => file.has(word),
  command: isCommand,
  JSON: (word) => json.has(word),
  library: (word) => hasWord(library, word),
  HTTP: (word) => (/^[/:]/.test(word) ? paths.some((path) => path.endsWith(word)) : http.has(word)),
  dashboard: (word) => hasWord(dashboard, word),
};

const SECTION = /^### Concepts in the interfaces\n(.*?)^## /ms.exec(read('docs/conventions.md'))?.[1] ?? '';
const [head = [], , ...rows] = SECTION.split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) => line.split('|').slice(1, -1));
const columns = head.map((name) => name.trim());

test('the table of concepts in docs/conventions.md has a column for each interface', () => {
  expect(columns).toEqual(['concept', ...Object.keys(CHECKS), 'docs']);
  expect(rows.length).toBeGreaterThan(20);
});

test.each(Object.entries(CHECKS))('the words of the column %s exist', (column, exists) => {
  const cells = rows.map((row) => row[columns.indexOf(column)] ?? '');
  const words = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word));
  expect(words.length).toBeGreaterThan(5);
  expect(words.filter((word) => !exists(word))).toEqual([]);
});
