import { type ShellScript, shellScript } from './shell-script.ts';

/** A pipe, and neither `||` nor `>|`. One in a quote counts too: what follows from it does no harm there. */
const PIPE = /(?<![|>])\|(?!\|)/;

const WARNING =
  'sluice: no bash and no pipefail here: a command that fails before a pipe is not noticed; install bash, or set `shell`';

/**
 * The argv that runs a text for which the file names no shell. A shell reports only the last command of a pipe unless
 * `pipefail` is set, and a killed producer would pass for a success. Not every `sh` has it, so a text with a pipe is
 * run by bash where there is one, else by an `sh` that has it, else with a warning. That is found out where the step
 * runs: the argv, and so the fingerprint, are the same on every machine. A text without a pipe is left to `sh`.
 */
export function defaultShellScript(text: string, flags: '' | 'eu'): ShellScript {
  const script = shellScript(text, flags === '' ? ['sh'] : ['sh', `-${flags}`]);
  const program = script.command.at(-1);
  if (program === undefined || !PIPE.test(text)) return script;
  return { ...script, command: ['sh', '-c', chooseShell(flags), program] };
}

/** Whether a step's argv is one that chooses a shell with `pipefail`. */
export function choosesPipefail(command: readonly string[] | undefined): boolean {
  const [program, flag, chooser] = command ?? [];
  return program === 'sh' && flag === '-c' && (chooser === chooseShell('') || chooser === chooseShell('eu'));
}

/** The text is the `$0` of what chooses the shell. */
function chooseShell(flags: '' | 'eu'): string {
  const failing = `-${flags}o pipefail -c "$0"`;
  return [
    `command -v bash >/dev/null 2>&1 && exec bash --norc ${failing}`,
    `(set -o pipefail) 2>/dev/null && exec sh ${failing}`,
    `echo '${WARNING}' >&2`,
    `exec sh ${flags === '' ? '' : `-${flags} `}-c "$0"`,
  ].join('\n');
}
