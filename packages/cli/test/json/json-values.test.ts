import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { runCommandLine } from '../../src/command-line/run-command-line.ts';
import { JSON_VALUES, type JsonType } from '../../src/json/json-values.ts';
import { createTestContext } from '../recording-terminal.ts';

const SCHEMAS = fileURLToPath(new URL('../../schemas', import.meta.url));
const UPDATES = process.env.UPDATE_PAGES === '1';
const TYPES = Object.keys(JSON_VALUES) as JsonType[];

function withHeader(type: JsonType) {
  const header = { schema: z.literal(1), type: z.literal(type) };
  return z.strictObject({ ...header, ...JSON_VALUES[type].shape }).describe(JSON_VALUES[type].description ?? '');
}

// UPDATE_PAGES=1 writes the schemas; review them.
test.each(TYPES)('the published JSON Schema of %s is current', (type) => {
  const file = join(SCHEMAS, `${type}.json`);
  const text = `${JSON.stringify(z.toJSONSchema(withHeader(type), { io: 'input' }), null, 2)}\n`;
  if (UPDATES) writeFileSync(file, text);
  expect(existsSync(file), `write ${file} with UPDATE_PAGES=1`).toBe(true);
  expect(readFileSync(file, 'utf8')).toBe(text);
});

test('there is no published schema of a value that is not printed', () => {
  expect(readdirSync(SCHEMAS).sort()).toEqual(TYPES.map((type) => `${type}.json`).sort());
});

let cwd: string;

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'sluice-json-'));
  writeFileSync(join(cwd, 'good.yaml'), 'version: 1\nname: p\nsteps: { a: { command: ["true"] } }\n');
  writeFileSync(join(cwd, 'bad.yaml'), 'version: 1\nname: p\nsteps: { a: { command: ["true"], needs: [b] }, a: {} }\n');
});

afterAll(() => rmSync(cwd, { recursive: true, force: true }));

/** Runs a command to its end and checks each printed line against the schema of its type. */
async function printed(args: readonly string[]): Promise<{ exitCode: number; values: Record<string, unknown>[] }> {
  const env = { HOME: cwd, PATH: process.env.PATH };
  const context = createTestContext({ cwd, env });
  const exitCode = await runCommandLine(args, context);
  const lines = context.terminal.written().out.split('\n').slice(0, -1);
  const values = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  for (const value of values) withHeader(value.type as JsonType).parse(value);
  return { exitCode, values };
}

test('errors of every kind have a code', async () => {
  const cases = [
    [['show', '--json'], 'REFUSED', 2],
    [['runs', '--json', '--limit', 'many'], 'USAGE', 2],
    [['--json', 'frobnicate'], 'USAGE', 2],
    [['login', 'no-address', '--json'], 'REFUSED', 2],
    [['admin', 'certificate', '--json', '--config', 'none.yaml'], 'REFUSED', 2],
  ] as const;
  for (const [args, code, exitCode] of cases) {
    const result = await printed(args);
    expect(result, args.join(' ')).toMatchObject({ exitCode, values: [{ type: 'error', code }] });
  }
});

test('check prints diagnostics', async () => {
  expect(await printed(['check', 'good.yaml', '--json'])).toEqual({ exitCode: 0, values: [] });
  const { exitCode, values } = await printed(['check', 'bad.yaml', '--json']);
  expect(exitCode).toBe(2);
  expect(values.map(({ type }) => type)).toContain('diagnostic');
});

test('a run that ended is printed with times as text, and a home is confirmed', async () => {
  const context = createTestContext({ cwd, env: { HOME: cwd, PATH: process.env.PATH } });
  expect(await runCommandLine(['run', 'good.yaml'], context), context.terminal.written().err).toBe(0);
  const { values } = await printed(['runs', '--json']);
  expect(values).toMatchObject([{ type: 'run', pipeline: 'p', status: 'succeeded', startedAt: expect.any(String) }]);
  expect(await printed(['orphans', '--json'])).toEqual({ exitCode: 0, values: [] });
  expect(await printed(['trust', '--json'])).toMatchObject({ exitCode: 0, values: [{ type: 'trust' }] });
});
