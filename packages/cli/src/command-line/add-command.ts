import type { Command, Option } from 'commander';
import type { CommandContext } from '../context/command-context.ts';

/** The implementation of a command; resolves to the exit code. `options` are those that the grammar declares for it. */
export type CommandAction = (context: CommandContext, options: never) => Promise<number>;

/** A command: `load` imports its implementation for the parsed arguments, only when the command is called. */
export interface CommandDeclaration {
  /** Name and arguments: `logs <step>`. */
  readonly usage: string;
  readonly description: string;
  /** Its own options, in the order of its help. The shared ones, which follow, are listed in `SHARED_OPTIONS`. */
  readonly options?: readonly Option[];
  /** Whether help and completion omit it. */
  readonly isHidden?: boolean;
  readonly load: (...args: string[]) => Promise<CommandAction>;
}

/** Adds a command to the program or to a group. */
export type AddCommand = (command: CommandDeclaration) => Command;

/** Returns a function that adds commands to this command, which is the program or a group. */
export type AddCommandsTo = (group: Command) => AddCommand;

/** The pipeline file of a command that was called without one. */
export const DEFAULT_FILE = 'pipeline.yaml';
