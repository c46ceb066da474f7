import type { Command } from 'commander';
import type { CommandContext } from '../context/command-context.ts';

/** The implementation of a command; resolves to the exit code. `options` are those that the grammar declares for it. */
export type CommandAction = (context: CommandContext, options: never) => Promise<number>;

/** Adds a command. `load` imports its implementation for the parsed arguments, only when the command is called. */
export type AddCommand = (
  usage: string,
  description: string,
  load: (...args: string[]) => Promise<CommandAction>,
) => Command;

/** Returns a function that adds commands to this command, which is the program or a group. */
export type AddCommandsTo = (group: Command) => AddCommand;
