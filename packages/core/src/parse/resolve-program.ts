import type { RawStep } from '../schema/step-schema.ts';
import { defaultShellScript } from './default-shell.ts';
import { commandInEnvironment, environmentOf } from './environments.ts';
import { listOf } from './list-of.ts';
import { loadModules } from './load-modules.ts';
import { shellScript } from './shell-script.ts';

/** A text runs in the default shell; a list is the argv itself. */
export function resolveCommand(command: string | readonly string[]): ReturnType<typeof shellScript> {
  return typeof command === 'string' ? defaultShellScript(command) : { command, env: {} };
}

/** The argv of the interpreter of a text; the shell by default. */
export function interpreterOf(shell: RawStep['shell']): readonly string[] {
  if (shell === undefined) return ['sh', '-eu'];
  return typeof shell === 'string' ? shell.trim().split(/\s+/) : shell;
}

/** The argv of a step, and the variables for its expressions. */
export function resolveProgram(raw: RawStep): { command?: readonly string[]; env: Readonly<Record<string, string>> } {
  const program = raw.script ?? raw.command;
  if (program === undefined) return { env: {} };
  const { command, env } =
    typeof program === 'string' && raw.shell !== undefined
      ? shellScript(program, interpreterOf(raw.shell))
      : resolveCommand(program);
  // An empty command is an error of its own.
  if (command.length === 0) return { command, env };
  const environment = environmentOf(raw);
  const inEnvironment = environment === undefined ? command : commandInEnvironment(environment, command);
  return { command: raw.modules === undefined ? inEnvironment : loadModules(listOf(raw.modules), inEnvironment), env };
}
