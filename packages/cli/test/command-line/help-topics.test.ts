import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createCommandLine } from '../../src/command-line/create-command-line.ts';
import { HELP_TOPICS } from '../../src/command-line/help-topics.ts';
import { runCommandLine } from '../../src/command-line/run-command-line.ts';
import { ENVIRONMENT_VARIABLES } from '../../src/context/environment-variables.ts';
import { EXIT_CODE, EXIT_CODE_MEANINGS } from '../../src/context/exit-code.ts';
import { JSON_VALUES } from '../../src/json/json-values.ts';
import { createTestContext } from '../recording-terminal.ts';

const pathOf = (place: string) => new URL(place, import.meta.url).pathname;
const PAGES = pathOf('testdata/help-topics/');
const SOURCES = pathOf('../../src');
const DOCS = pathOf('../../../../');
const UPDATES = process.env.UPDATE_TESTDATA === '1';

async function help(...words: readonly string[]) {
  const context = createTestContext({ cwd: '/' });
  const exitCode = await runCommandLine(['help', ...words], context);
  return { exitCode, ...context.terminal.written() };
}

const names = [...HELP_TOPICS.keys()];

// UPDATE_TESTDATA=1 writes the pages; review them.
test.each(names)('help %s is as reviewed, and names a section of the documentation', async (name) => {
  const { exitCode, out, err } = await help(name);
  expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
  const file = join(PAGES, `${name}.txt`);
  if (UPDATES) {
    mkdirSync(PAGES, { recursive: true });
    writeFileSync(file, out);
  }
  expect(existsSync(file), `write ${file} with UPDATE_TESTDATA=1`).toBe(true);
  expect(out).toBe(readFileSync(file, 'utf8'));
  const [, page = '', heading] = /^More: (docs\/[a-z]+\.md), "(.+)"$/m.exec(out) ?? [];
  expect(readFileSync(join(DOCS, page), 'utf8').split('\n')).toContain(`## ${heading}`);
  expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
});

test('there is no page of another topic, and no topic has the name of a command', () => {
  expect(readdirSync(PAGES).sort()).toEqual(names.map((name) => `${name}.txt`).sort());
  const { program } = createCommandLine(createTestContext({ cwd: '/' }));
  expect(program.commands.map((command) => command.name()).filter((name) => HELP_TOPICS.has(name))).toEqual([]);
});

test('help lists the topics, and rejects other words', async () => {
  const { out } = await help();
  for (const name of names) expect(out).toMatch(new RegExp(`^  help ${name} `, 'm'));
  expect(await help('exit-code')).toMatchObject({
    exitCode: 2,
    out: '',
    err: expect.stringContaining("unknown command 'exit-code'"),
  });
  expect(await help('json', 'run')).toMatchObject({
    exitCode: 2,
    out: '',
    err: expect.stringContaining('the topic json of help takes no'),
  });
});

test('help environment and its page have every variable that the command reads, and no other', async () => {
  const sources = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter(
      (file) => file.endsWith('.ts') && !file.startsWith('library/') && !file.endsWith('environment-variables.ts'),
    )
    .map((file) => readFileSync(join(SOURCES, file), 'utf8'))
    .join('\n');
  const direct = [...sources.matchAll(/\benv\??\.([A-Z][A-Z0-9_]+)/g)];
  const named = [...sources.matchAll(/'((?:SLUICE|GITHUB|XDG|OTEL)_[A-Z_]*[A-Z])'/g)];
  const prefixes = [...sources.matchAll(/`(SLUICE_[A-Z]+_)\$\{name\}`/g)].map(([, prefix]) => `${prefix}<NAME>`);
  const read = new Set([...[...direct, ...named].map(([, name]) => name), ...prefixes]);
  expect(Object.keys(ENVIRONMENT_VARIABLES).sort()).toEqual([...read].sort());
  const { out } = await help('environment');
  const page = readFileSync(join(DOCS, 'docs/command.md'), 'utf8');
  for (const [name, meaning] of Object.entries(ENVIRONMENT_VARIABLES)) {
    expect(out).toMatch(new RegExp(`^  ${name} `, 'm'));
    expect(page).toContain(`| \`${name}\` | ${meaning} |`);
  }
});

test('help exit-codes and its page have every exit code', async () => {
  const codes = Object.values(EXIT_CODE).map(String);
  expect(Object.keys(EXIT_CODE_MEANINGS)).toEqual(codes);
  const { out } = await help('exit-codes');
  const rows = readFileSync(join(DOCS, 'docs/command.md'), 'utf8').matchAll(/^\| (\d+) \|/gm);
  expect([...out.matchAll(/^ {2}(\d+) /gm)].map(([, code]) => code)).toEqual(codes);
  expect([...rows].map(([, code]) => code)).toEqual(codes);
});

test('help json has every type of the contract', async () => {
  const { out } = await help('json');
  const words = new Set(out.split(/[\s,]+/));
  expect(Object.keys(JSON_VALUES).filter((type) => !words.has(type))).toEqual([]);
});
