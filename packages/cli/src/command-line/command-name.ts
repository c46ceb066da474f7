import type { Command } from 'commander';

/** The name of a command as typed, with its groups: `admin user add`. */
export function commandName(command: Command): string {
  return command.parent?.parent ? `${commandName(command.parent)} ${command.name()}` : command.name();
}
