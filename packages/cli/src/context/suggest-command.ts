import type { GlobalOptions } from './command-context.ts';

/**
 * A command line to copy: `words` after `sluice`, then the global options that the user set, quoted for a POSIX shell.
 */
export function suggestCommand(words: readonly string[], options: GlobalOptions = {}): string {
  return ['sluice', ...words, ...repeatOptions(options)].map(quoteWord).join(' ');
}

/** The global options that the user set, as unquoted words. */
export function repeatOptions(options: GlobalOptions): readonly string[] {
  return (['home', 'profile', 'service', 'account', 'cluster', 'cores'] as const).flatMap((name) => {
    const value = options[name];
    return value === undefined ? [] : [`--${name}`, String(value)];
  });
}

/** Quotes a word for a POSIX shell if necessary. */
function quoteWord(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
