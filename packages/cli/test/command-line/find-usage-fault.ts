import type { Command } from 'commander';
import { createCommandLine } from '../../src/command-line/create-command-line.ts';
import { createTestContext } from '../recording-terminal.ts';

/** Why the grammar does not accept these words after `sluice`; undefined if it does. Runs nothing. */
export function findUsageFault(words: readonly string[]): string | undefined {
  let command: Command = createCommandLine(createTestContext({ cwd: '/' })).program;
  let rest = words;
  while (command.commands.length > 0) {
    const [name = '', ...others] = rest;
    const found = command.commands.find((candidate) => candidate.name() === name);
    if (found === undefined) return `${command.name()} has no command ${name}`;
    command = found;
    rest = others;
  }
  const { operands, unknown } = command.parseOptions([...rest]);
  if (unknown.length > 0) return `${command.name()} does not accept ${unknown.join(' ')}`;
  const { registeredArguments } = command;
  const least = registeredArguments.filter(({ required }) => required).length;
  const most = registeredArguments.some(({ variadic }) => variadic) ? Infinity : registeredArguments.length;
  if (operands.length < least) return `${command.name()} needs ${least} arguments`;
  if (operands.length > most) return `${command.name()} accepts ${most} arguments`;
  return undefined;
}
