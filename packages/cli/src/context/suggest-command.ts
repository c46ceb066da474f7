import type { GlobalOptions } from './command-context.ts';
import { sharedOptionsOf } from './shared-options.ts';

/**
 * A command line to copy: `words` after `sluice`, then the shared options that the user set and that apply to it, quoted
 * for a POSIX shell.
 */
export function suggestCommand(words: readonly string[], options: GlobalOptions = {}): string {
  return ['sluice', ...words, ...repeatOptions(words.join(' '), options)].map(quoteWord).join(' ');
}

/** The two commands that continue a suspended run, for the end of a sentence such as `resume it with: …`. */
export function suggestContinuing(runId: string, options: GlobalOptions = {}): string {
  const [here, behind] = ['resume', 'detach'].map((verb) => suggestCommand([verb, runId], options));
  return `${here}, or in the background with: ${behind}`;
}

/** They say how a command prints, not what it does. */
const NOT_REPEATED: ReadonlySet<string> = new Set(['json', 'color', 'verbose']);

/** The shared options that the user set and that apply to this command, as unquoted words. */
function repeatOptions(command: string, options: GlobalOptions): readonly string[] {
  const { account, cluster } = options;
  const isPair = account !== undefined && cluster !== undefined;
  const named = isPair ? { ...options, account: `${cluster}/${account}`, cluster: undefined } : options;
  return sharedOptionsOf(command).flatMap((name) => {
    const value = NOT_REPEATED.has(name) ? undefined : named[name];
    return value === undefined ? [] : [`--${name}`, String(value)];
  });
}

/** Quotes a word for a POSIX shell if necessary. */
export function quoteWord(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
