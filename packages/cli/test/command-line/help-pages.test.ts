import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { commandName } from '../../src/command-line/command-name.ts';
import { createCommandLine } from '../../src/command-line/create-command-line.ts';
import { runCommandLine } from '../../src/command-line/run-command-line.ts';
import { createTestContext } from '../recording-terminal.ts';

const PAGES = new URL('testdata/help/', import.meta.url).pathname;
const UPDATES = process.env.UPDATE_TESTDATA === '1';

function listNames(group: Command): string[] {
  return group.commands.flatMap((command) => [commandName(command), ...listNames(command)]);
}

const { program } = createCommandLine(createTestContext({ cwd: '/' }));
const names = ['', ...listNames(program), 'completion'];
const fileOf = (name: string) => `${name === '' ? 'sluice' : name.replaceAll(' ', '-')}.txt`;

// UPDATE_TESTDATA=1 writes the pages; review them.
test.each(names)('the help of `sluice %s` is as reviewed', async (name) => {
  const context = createTestContext({ cwd: '/' });
  expect(await runCommandLine([...name.split(' ').filter((word) => word !== ''), '--help'], context)).toBe(0);
  const { out, err } = context.terminal.written();
  expect(err).toBe('');
  const file = join(PAGES, fileOf(name));
  if (UPDATES) {
    mkdirSync(PAGES, { recursive: true });
    writeFileSync(file, out);
  }
  expect(existsSync(file), `write ${file} with UPDATE_TESTDATA=1`).toBe(true);
  expect(out).toBe(readFileSync(file, 'utf8'));
});

test('there is no page of a command that does not exist', () => {
  expect(readdirSync(PAGES).toSorted()).toEqual(names.map(fileOf).toSorted());
});
