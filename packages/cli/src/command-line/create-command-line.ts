import { Command, type Option } from 'commander';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { type SharedOption, sharedOptionsOf } from '../context/shared-options.ts';
import { withColor } from '../context/terminal.ts';
import { addAdminCommands } from './add-admin-commands.ts';
import { addAuthorCommands } from './add-author-commands.ts';
import type { AddCommand, AddCommandsTo } from './add-command.ts';
import { addDataCommands } from './add-data-commands.ts';
import { addInspectCommands } from './add-inspect-commands.ts';
import { addOperateCommands } from './add-operate-commands.ts';
import { addProfileCommands } from './add-profile-commands.ts';
import { addRunCommands } from './add-run-commands.ts';
import { addScheduleCommands } from './add-schedule-commands.ts';
import { addExamples } from './command-examples.ts';
import { commandName } from './command-name.ts';
import { createSharedOptions } from './command-options.ts';
import { renderHelpTopics } from './help-topics.ts';
import { splitAccount } from './split-account.ts';
import { VERSION } from './version.ts';

const HELP = 'show the help of a command';

/**
 * Builds the grammar of the `sluice` command. `exitCode` returns the code of the command that `program.parseAsync` ran.
 */
export function createCommandLine(context: CommandContext): { program: Command; exitCode: () => number } {
  let exitCode: number = EXIT_CODE.ok;
  const program = createProgram(context);
  const addTo: AddCommandsTo =
    (group) =>
    ({ usage, description, options = [], isHidden = false, load }) => {
      const command = group.command(usage, { hidden: isHidden }).description(description);
      for (const option of [...options, ...selectSharedOptions(commandName(command))]) command.addOption(option);
      return command.action(async (...parsed: unknown[]) => {
        rejectOthers(program, command);
        const options = splitAccount({ ...program.opts(), ...command.opts() });
        if (!options.ok) return command.error(`error: ${options.error}`);
        const action = await load(...(parsed.slice(0, -2) as string[]));
        const terminal = withColor(context.terminal, options.value.color);
        exitCode = await action({ ...context, terminal }, options.value as never);
      });
    };
  const add = addTo(program);
  const addOfHome = withCheckedHome(add);
  const startGroup = (name: string) => program.commandsGroup(`${name}:`);
  startGroup('Run');
  addRunCommands(addOfHome);
  const schedule = program.command('schedule').description('run pipelines at the times of their `schedule`');
  addScheduleCommands(withCheckedHome(addTo(schedule)));
  startGroup('Inspect');
  addInspectCommands(addOfHome);
  startGroup('Data');
  addDataCommands(addOfHome);
  startGroup('Author');
  addAuthorCommands(add, addOfHome);
  startGroup('Operate');
  program.helpCommand('help [command|topic]', `${HELP} or topic`);
  program.addHelpText('after', renderHelpTopics);
  addOperateCommands(add);
  addProfileCommands(program, { addTo, addOfHome });
  addAdminCommands(program, addTo);
  const commands = listCommands(program);
  for (const command of commands) configure(command, program);
  addExamples(commands);
  return { program, exitCode: () => exitCode };
}

function createProgram({ terminal }: CommandContext): Command {
  const program = new Command('sluice');
  program
    .description(
      'Run pipelines of containers: steps are containers, edges are volumes, nothing is lost or started twice',
    )
    .version(VERSION)
    .configureHelp({
      sortSubcommands: false,
      subcommandTerm: (command) => `${command.name()} ${command.usage().replace('[options]', '').trim()}`.trim(),
    })
    .configureOutput({
      writeOut: terminal.out,
      writeErr: (text) => terminal.err(...text.replace(/\n$/, '').split('\n')),
    })
    .showHelpAfterError('Try: sluice --help')
    .exitOverride()
    // Shared options may also precede the command, whose own help shows those that apply to it.
    .enablePositionalOptions();
  for (const option of Object.values(createSharedOptions())) program.addOption(option.hideHelp());
  return program;
}

function configure(command: Command, program: Command): void {
  command.copyInheritedSettings(program);
  // Topics are only those of the program.
  if (command.commands.length > 0) command.helpCommand('help [command]', HELP);
  command.showHelpAfterError(`Try: sluice ${commandName(command)} --help`);
}

/** Rejects shared options before the command that do not apply to it; after it, its own grammar does. */
function rejectOthers(program: Command, command: Command): void {
  const name = commandName(command);
  const applying: readonly string[] = sharedOptionsOf(name);
  const other = Object.keys(program.opts()).find((option) => !applying.includes(option));
  if (other !== undefined) command.error(`error: option '--${other}' does not apply to \`sluice ${name}\``);
}

function selectSharedOptions(name: string): readonly Option[] {
  const options: Readonly<Record<SharedOption, Option>> = createSharedOptions();
  return sharedOptionsOf(name).map((key) => options[key].helpGroup('Shared options:'));
}

/** All commands below this one, groups before their commands. */
function listCommands(group: Command): readonly Command[] {
  return group.commands.flatMap((command) => [command, ...listCommands(command)]);
}

/** For commands that read or write a home: they are rejected before their work if the home may not be used. */
function withCheckedHome(add: AddCommand): AddCommand {
  return ({ load, ...declaration }) =>
    add({
      ...declaration,
      load: async (...args) => {
        const action = await load(...args);
        const { checkHome } = await import('../home/check-home.ts');
        return async (context, options: GlobalOptions) => {
          const checked = checkHome(context, options);
          if (checked.ok) return action(context, options as never);
          const { reject } = await import('../context/reject.ts');
          return reject(checked.error, { context, options });
        };
      },
    });
}
