import type { ServiceError } from '@sluice/client';
import { type Command, CommanderError } from 'commander';
import type { CommandContext } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { describeSystemError } from '../context/describe-system-error.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { addExamples } from './command-examples.ts';
import { SYNONYMS } from './command-synonyms.ts';
import { createCommandLine } from './create-command-line.ts';
import { HELP_TOPICS, renderHelpTopic } from './help-topics.ts';

const COMPLETION = 'print the completion script for bash, zsh, fish or powershell';

/** Runs one command and resolves to its exit code. Prints an internal error with its stack; expected errors without. */
export async function runCommandLine(args: readonly string[], context: CommandContext): Promise<number> {
  const commandLine = createCommandLine(context);
  const { program } = commandLine;
  if (args[0] === 'completion' || args[0] === 'complete') {
    const { addCompletion } = await import('./add-completion.ts');
    addCompletion(program, { context, words: args }).description(COMPLETION);
  } else {
    const completion = program.command('completion <shell>');
    completion.description(COMPLETION);
    completion.copyInheritedSettings(program).showHelpAfterError('Try: sluice completion --help');
    addExamples([completion]);
  }
  try {
    if (showsTopic(args, { program, context })) return EXIT_CODE.ok;
    const words = redirectUnknownHelp(program, args);
    rejectSynonym(program, words);
    await program.parseAsync(words, { from: 'user' });
    return commandLine.exitCode();
  } catch (error) {
    // Commander has already printed its message. Help and version also end here.
    if (error instanceof CommanderError) {
      const wasAskedFor = error.exitCode === 0 || (error.code === 'commander.help' && args.join() === 'help');
      if (wasAskedFor) return EXIT_CODE.ok;
      await printError({ exitCode: EXIT_CODE.rejected, code: 'USAGE', message: error.message }, { args, context });
      return EXIT_CODE.rejected;
    }
    const { reject } = await import('../context/reject.ts');
    return reject(await describeFailure(error), { context, options: { json: args.includes('--json') } });
  }
}

/** Prints the topic that `help` names. False if it names none. */
function showsTopic(
  [help, name = '', ...others]: readonly string[],
  { program, context }: { program: Command; context: CommandContext },
): boolean {
  const topic = help === 'help' ? HELP_TOPICS.get(name) : undefined;
  if (topic === undefined) return false;
  if (others.length > 0) program.error(`error: the topic ${name} of help takes no arguments`);
  context.terminal.out(renderHelpTopic(topic));
  return true;
}

/** Throws if the command has a name of another system, and says which of ours is meant. */
function rejectSynonym(program: Command, words: readonly string[]): void {
  if (!words.some((word) => SYNONYMS.has(word))) return;
  const [name = ''] = program.parseOptions([...words]).operands;
  const ours = SYNONYMS.get(name);
  if (ours !== undefined)
    program.error(`error: unknown command '${name}'\n(Did you mean ${ours}?)`, { code: 'commander.unknownCommand' });
}

/** Prints an error that the parser has printed for people, if the arguments request JSON. */
async function printError(
  { message, ...error }: CommandError,
  { args, context }: { args: readonly string[]; context: CommandContext },
): Promise<void> {
  if (!args.includes('--json')) return;
  const { renderError } = await import('../context/reject.ts');
  context.terminal.out(renderError({ ...error, message: message.replace(/^error: /, '') }));
}

/** Returns `args`, unless they request the help of an unknown command: then arguments that report this command. */
function redirectUnknownHelp(program: Command, args: readonly string[]): readonly string[] {
  const isFlag = (arg: string) => arg === '--help' || arg === '-h';
  if (!args.some(isFlag) && args[0] !== 'help') return args;
  const names = (args[0] === 'help' ? args.slice(1) : args).filter((arg) => !isFlag(arg));
  let group = program;
  for (let words = names; group.commands.length > 0; ) {
    const { operands, unknown } = group.parseOptions([...words]);
    const [name, ...rest] = operands;
    if (name === undefined) return args;
    const command = group.commands.find((candidate) => candidate.name() === name);
    if (command === undefined) return name === 'help' ? args : names;
    group = command;
    words = [...rest, ...unknown];
  }
  return args;
}

/** An error that no command has handled. One with the code `INTERNAL` is a bug in Sluice or a problem of the machine. */
async function describeFailure(error: unknown): Promise<CommandError> {
  if (isServiceFailure(error)) {
    const { serviceExitCode } = await import('../connect/service-exit-code.ts');
    return { exitCode: serviceExitCode(error), message: error.message };
  }
  if (isHomeFailure(error)) return { exitCode: EXIT_CODE.rejected, code: 'HOME_UNUSABLE', message: error.message };
  return { exitCode: EXIT_CODE.runFailed, code: 'INTERNAL', ...describe(error) };
}

/** Whether a service has failed or is absent. Compares the name: only commands that need `@sluice/client` load it. */
function isServiceFailure(error: unknown): error is ServiceError {
  return error instanceof Error && error.name === 'ServiceError';
}

/** Whether a file of the home is damaged. */
function isHomeFailure(error: unknown): error is Error {
  return error instanceof Error && error.name === 'SluiceError';
}

function describe(error: unknown): Pick<CommandError, 'message' | 'lines'> {
  if (!(error instanceof Error)) return { message: `sluice: ${String(error)}` };
  if ('syscall' in error) return { message: `sluice: ${describeSystemError(error)}` };
  const frames = (error.stack ?? '').split('\n').filter((line) => /^ +at /.test(line));
  return { message: 'sluice: internal error (a bug in Sluice)', lines: [String(error), ...frames] };
}
