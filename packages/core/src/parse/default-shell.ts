import { type ShellScript, shellScript } from './shell-script.ts';

/** A pipe, but neither `||` nor `>|`. A pipe in quotes also matches, which is harmless. */
const PIPE = /(?<![|>])\|(?!\|)/;

const WARNING =
  'sluice: no bash and no pipefail here: a command that fails before a pipe is not noticed; install bash, or set `shell`';

/** The script that chooses the shell; the user's text is its `$0`. */
const CHOOSE_SHELL = [
  'command -v bash >/dev/null 2>&1 && exec bash --norc -euo pipefail -c "$0"',
  '(set -o pipefail) 2>/dev/null && exec sh -euo pipefail -c "$0"',
  `echo '${WARNING}' >&2`,
  'exec sh -eu -c "$0"',
].join('\n');

/**
 * The argv for a text without an explicit shell. Without `pipefail`, a shell reports only the last command of a pipe,
 * and a killed producer would count as a success. Not every `sh` supports it, so a text with a pipe runs in bash if
 * installed, else in an `sh` that supports it, else with a warning. The argv itself makes this choice where the step
 * runs, so that the fingerprint is the same on every machine. A text without a pipe runs in `sh`.
 */
export function defaultShellScript(text: string): ShellScript {
  const script = shellScript(text, ['sh', '-eu']);
  const program = script.command.at(-1);
  if (program === undefined || !PIPE.test(text)) return script;
  return { ...script, command: ['sh', '-c', CHOOSE_SHELL, program] };
}

/** Whether a step's argv chooses a shell with `pipefail`. */
export function choosesPipefail(command: readonly string[] | undefined): boolean {
  const at = command?.indexOf(CHOOSE_SHELL) ?? -1;
  return command?.[at - 1] === '-c' && command[at - 2] === 'sh';
}
