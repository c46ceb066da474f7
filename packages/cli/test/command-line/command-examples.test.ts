import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { createCommandLine } from '../../src/command-line/create-command-line.ts';
import { createTestContext } from '../recording-terminal.ts';

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

const { program } = createCommandLine(createTestContext({ cwd: '/' }));
const commands = program.commands.flatMap((command) => (command.commands.length > 0 ? command.commands : [command]));

test('every command beside those of groups shows examples in its help', () => {
  const without = program.commands.filter((one) => one.commands.length === 0 && examplesOf(one).length === 0);
  expect(without.map((one) => one.name())).toEqual([]);
});

test.each(commands.flatMap((command) => examplesOf(command).map((line) => [line, command] as const)))(
  'the example %j is a call that the command takes',
  (line, command) => {
    const words = line.split(' ').slice(command.parent === program ? 1 : 2);
    const { operands, unknown } = command.parseOptions(words);
    expect(program.parseOptions(unknown)).toEqual({ operands: [], unknown: [] });
    const required = command.registeredArguments.filter((argument) => argument.required).length;
    const most = command.registeredArguments.some(({ variadic }) => variadic)
      ? Infinity
      : command.registeredArguments.length;
    expect(operands.length).toBeGreaterThanOrEqual(required);
    expect(operands.length).toBeLessThanOrEqual(most);
  },
);
