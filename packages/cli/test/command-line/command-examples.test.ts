import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { commandName } from '../../src/command-line/command-name.ts';
import { createCommandLine } from '../../src/command-line/create-command-line.ts';
import { createTestContext } from '../recording-terminal.ts';
import { findUsageFault } from './find-usage-fault.ts';

function examplesOf(command: Command): string[] {
  let text = '';
  command.configureOutput({
    writeOut: (written) => {
      text += written;
    },
  });
  command.outputHelp();
  return text.split('\n').flatMap((line) => (line.startsWith('  sluice ') ? [line.slice('  sluice '.length)] : []));
}

function listLeaves(group: Command): Command[] {
  return group.commands.flatMap((command) => (command.commands.length > 0 ? listLeaves(command) : [command]));
}

const { program } = createCommandLine(createTestContext({ cwd: '/' }));
const commands = listLeaves(program);

test('every command beside those of `admin` shows examples in its help', () => {
  const without = commands.filter((one) => examplesOf(one).length === 0).map(commandName);
  expect(without.filter((name) => !name.startsWith('admin '))).toEqual([]);
});

test.each(commands.flatMap((command) => examplesOf(command).map((line) => [line, commandName(command)] as const)))(
  'the example %j is a call of its command',
  (line, name) => {
    const words = line.split(' ');
    expect(line.startsWith(name)).toBe(true);
    expect(findUsageFault(words)).toBeUndefined();
  },
);
