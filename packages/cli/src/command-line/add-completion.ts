import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import tab from '@bomb.sh/tab/commander';
import type { Command } from 'commander';
import type { CommandContext } from '../context/command-context.ts';
import { checkHome } from '../home/check-home.ts';
import { findHome } from '../home/home.ts';

/** Arguments and options that are runs. */
const RUN_VALUES: ReadonlySet<string> = new Set(['run', 'reuse-from']);

/**
 * Adds `completion SHELL`, which prints the shell's script, and the hidden `complete`, which that script calls. Loaded
 * only for these two, to keep the start of other commands fast. Returns `completion`.
 */
export function addCompletion(program: Command, context: Pick<CommandContext, 'env' | 'cwd' | 'terminal'>): Command {
  const completion = tab(program, { completionCommandName: 'completion' });
  const printing = program.commands.find((command) => command.name() === 'completion')!;
  printing.hook('preAction', (_, { args: [shell] }) => {
    if (shell === 'bash') context.terminal.out(BASH_FALLBACK);
  });
  const offer = (list: () => readonly string[]) => (complete: (value: string, description: string) => void) => {
    for (const value of list()) if (SHELL_SAFE.test(value)) complete(value, '');
  };
  const offerRuns = offer(() => listRunNames(context));
  const offerFiles = offer(() => listPipelineFiles(context.cwd));
  for (const command of completion.commands.values()) {
    for (const value of [...command.arguments.values(), ...command.options.values()]) {
      const name = 'name' in value ? value.name : value.value;
      if (RUN_VALUES.has(name)) value.handler = offerRuns;
      else if (name === 'file') value.handler = offerFiles;
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

/** Possible pipeline files in the working directory and two levels below it. The shell filters them by prefix. */
function listPipelineFiles(cwd: string): string[] {
  const found: string[] = [];
  const search = (directory: string, depth: number) => {
    for (const entry of readdirSync(join(cwd, directory), { withFileTypes: true })) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      if (entry.isDirectory() && depth > 0) search(join(directory, entry.name), depth - 1);
      else if (/\.(ya?ml|json)$/.test(entry.name)) found.push(join(directory, entry.name));
    }
  };
  try {
    search('', 2);
  } catch {
    // A directory that cannot be read has nothing to offer.
  }
  return found.sort();
}

function listRunNames({ env, cwd }: Pick<CommandContext, 'env' | 'cwd'>): string[] {
  try {
    if (!checkHome({ env, cwd }, {}).ok) return [];
    return readdirSync(join(findHome({ env, cwd }), 'runs')).sort();
  } catch {
    return [];
  }
}
