import type { Command } from 'commander';
import type { CommandContext } from '../context/command-context.ts';

/** A command's work; its module is loaded only when it is called. The options are those that the grammar declares. */
export type CommandAction = (context: CommandContext, options: never) => Promise<number>;

/** Adds a command, to the program or to a group of it; `load` gives its work for the arguments that were parsed. */
export type AddCommand = (
  usage: string,
  description: string,
  load: (...args: string[]) => Promise<CommandAction>,
  group?: Command,
) => Command;
