import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCommandLine } from '../../src/command-line/run-command-line.ts';
import { createTestContext } from '../recording-terminal.ts';

const PIPELINE = `version: 1
name: demo
params:
  samples: { type: array, columns: { lanes: integer }, default: [] }
  rates: { type: array, default: [] }
  user: { type: string, default: ada }
  tries: { type: integer }
steps:
  fit: { command: [fit, "\${{ params.user }}"] }
`;
let cwd: string;

beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-params-')));
  write('pipeline.yaml', PIPELINE);
});

afterEach(() => rmSync(cwd, { recursive: true, force: true }));

function write(file: string, text: string | Buffer): void {
  writeFileSync(join(cwd, file), text);
}

async function sluice(...args: string[]) {
  const context = createTestContext({ cwd });
  const exitCode = await runCommandLine(args, context);
  return { exitCode, ...context.terminal.written() };
}

/** The values of the parameters in a plan. */
async function plan(...args: string[]): Promise<unknown> {
  const { exitCode, out, err } = await sluice('plan', '--json', ...args);
  return exitCode === 0 ? (JSON.parse(out) as { params: unknown }).params : err;
}

test('readGivenParams reads a file of parameters, which -p overrides', async () => {
  write('p.yaml', 'tries: 3\nuser: "@eve"\nrates: [1.0, 2]\nsamples: [{ id: S1, lanes: 2 }]\n');
  expect(await plan('--params-file', 'p.yaml', '-p', 'user=bob')).toEqual({
    ...{ tries: 3, user: 'bob', rates: [1, 2] },
    samples: [{ id: 'S1', lanes: 2 }],
  });
  expect(await plan('--params-file', 'p.yaml')).toMatchObject({ user: '@eve' });
});

test('readGivenParams reads the values of single parameters from tables and other files', async () => {
  write('s.csv', 'id,lanes\r\nS1,2\r\n');
  write('rates.json', '[0.5, 1.0]');
  expect(await plan('-p', 'samples=@s.csv', '-p', 'rates=@rates.json', '-p', 'tries=1', '-p', 'user=@@s.csv')).toEqual({
    ...{ samples: [{ id: 'S1', lanes: 2 }], rates: [0.5, 1] },
    ...{ tries: 1, user: '@s.csv' },
  });
});

test.each([
  [
    'tries: 3\nuserr: eve\n',
    /p\.yaml:2:1: error: pipeline `demo` has no parameter `userr` .*\n.*\n.*\n.*\n.*did you mean `user`\?/,
  ],
  ['tries: x\n', 'p.yaml:1:8: error: parameter `tries` is "x", which is not of type integer'],
  ['tries: 1\nuser: [a]\n', 'p.yaml:2:1: error: parameter `user` is ["a"], which is not of type string'],
  ['tries:\n', 'p.yaml:1:7: error: parameter `tries` is null, which is not of type integer'],
  ['tries: 1\ntries: 2\n', 'p.yaml:2:1: error: duplicate key `tries`'],
  ['- tries: 1\n', 'p.yaml:1:1: error: p.yaml must be a map of parameters to their values'],
  ['tries: 1\nsamples: [{ id: a }]\n', 'p.yaml:2:1: error: parameter `samples` has no column `lanes` in row 1'],
])('readGivenParams rejects the file of parameters %j', async (text, message) => {
  write('p.yaml', text);
  for (const command of ['check', 'run']) {
    const { exitCode, err } = await sluice(command, 'pipeline.yaml', '--params-file', 'p.yaml');
    expect([command, exitCode]).toEqual([command, 2]);
    expect(err).toMatch(message);
  }
});

test.each([
  ['samples=@none.csv', /parameter `samples`: could not read .*none\.csv: the file does not exist.*\n.*samples=@@/],
  ['samples=@ragged.csv', /ragged\.csv:3:1: error: the row has 1 value, but the first row names 2 columns/],
  ['samples=@text.csv', /text\.csv:2:1: error: column `lanes` is "two", which is not of type integer/],
  ['samples=@bytes.csv', /bytes\.csv: line 2 is not text in UTF-8; convert the file/],
  ['samples=@list.txt', /could not read a value from list\.txt: its name must end in \.csv, \.tsv/],
  ['tries=@list.yaml', /list\.yaml:1:1: error: parameter `tries` is \["a"\], which is not of type integer/],
  ['sampels=@none.csv', /has no parameter `sampels`/],
  ['user=@', /It must name a file after @; @@ begins a text with @\./],
])('readGivenParams rejects -p %s', async (param, message) => {
  write('ragged.csv', 'id,lanes\nS1,2\nS2\n');
  write('text.csv', 'id,lanes\nS1,two\n');
  write('bytes.csv', Buffer.from('id,lanes\nS\xe4,2\n', 'latin1'));
  write('list.txt', 'a\n');
  write('list.yaml', '- a\n');
  const { exitCode, err } = await sluice('check', 'pipeline.yaml', '-p', 'tries=1', '-p', param);
  expect(exitCode).toBe(2);
  expect(err).toMatch(message);
});
