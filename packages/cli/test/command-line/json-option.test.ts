import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { commandName } from '../../src/command-line/command-name.ts';
import { createCommandLine } from '../../src/command-line/create-command-line.ts';
import { runCommandLine } from '../../src/command-line/run-command-line.ts';
import { createTestContext } from '../recording-terminal.ts';

/** Why a command has no `--json`. */
const WITHOUT_JSON: Readonly<Record<string, string>> = {
  host: 'writes the log of a background process',
  mcp: 'prints messages of a protocol, which are JSON',
  schema: 'prints JSON',
  completion: 'prints a script for a shell',
};

function listNames(group: Command): readonly string[] {
  return group.commands.flatMap((command) => (command.commands.length > 0 ? listNames(command) : commandName(command)));
}

test('every command has --json, or a reason to have none', async () => {
  const { program } = createCommandLine(createTestContext({ cwd: '/' }));
  const lacking: string[] = [];
  for (const name of [...listNames(program), 'completion']) {
    const context = createTestContext({ cwd: '/' });
    expect(await runCommandLine([...name.split(' '), '--help'], context)).toBe(0);
    if (!/^ +--json /m.test(context.terminal.written().out)) lacking.push(name);
  }
  expect(lacking).toEqual(Object.keys(WITHOUT_JSON));
});
