import tab from '@bomb.sh/tab/commander';
import type { Command } from 'commander';
import type { CommandContext } from '../context/command-context.ts';
import { type CompletionValues, createCompletionValues } from './completion-values.ts';

/** What arguments are, by their names. */
const ARGUMENTS: ReadonlyMap<string, keyof CompletionValues> = new Map([
  ['run', 'runs'],
  ['step', 'steps'],
  ['step[/cell]', 'steps'],
  ['file', 'files'],
  ['name', 'schedules'],
  ['type', 'schemas'],
]);

/** What the values of options are. */
const OPTIONS: ReadonlyMap<string, keyof CompletionValues> = new Map([
  ['run', 'runs'],
  ['reuse-from', 'runs'],
  ['from', 'steps'],
  ['profile', 'profiles'],
]);

/**
 * Adds `completion SHELL`, which prints the shell's script, and the hidden `complete`, which that script calls with the
 * `words` of the command line. Loaded only for these two, to keep the start of other commands fast. Returns
 * `completion`.
 */
export function addCompletion(
  program: Command,
  { context, words }: { context: Pick<CommandContext, 'env' | 'cwd' | 'terminal'>; words: readonly string[] },
): Command {
  const completion = tab(program, { completionCommandName: 'completion' });
  const printing = program.commands.find((command) => command.name() === 'completion')!;
  printing.hook('preAction', (_, { args: [shell] }) => {
    if (shell === 'bash') context.terminal.out(BASH_FALLBACK);
  });
  const values = createCompletionValues(context, words);
  const offer = (kind: keyof CompletionValues) => (complete: (value: string, description: string) => void) => {
    for (const value of values[kind]()) if (SHELL_SAFE.test(value)) complete(value, '');
  };
  for (const command of completion.commands.values()) {
    for (const argument of command.arguments.values()) {
      const kind = ARGUMENTS.get(argument.name);
      if (kind !== undefined) argument.handler = offer(kind);
    }
    for (const option of command.options.values()) {
      const kind = OPTIONS.get(option.value);
      if (kind !== undefined) option.handler = offer(kind);
    }
  }
  return printing;
}

/** Bash expands the values that the completion script offers: a name such as `$(…)` would be executed. */
const SHELL_SAFE = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** The script calls a function of the package `bash-completion`, which is not installed everywhere. */
const BASH_FALLBACK = `if ! declare -F _get_comp_words_by_ref > /dev/null; then
    _get_comp_words_by_ref() {
        cur=\${COMP_WORDS[COMP_CWORD]}
        prev=\${COMP_WORDS[COMP_CWORD - 1]}
        words=("\${COMP_WORDS[@]}")
        cword=$COMP_CWORD
    }
fi
`;
