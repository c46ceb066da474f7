import { plainLine } from '../text/plain-line.ts';
import type { Terminal } from './terminal.ts';

/** Prints a warning on one line of stderr, whatever the message quotes from outside. */
export function printWarning(terminal: Pick<Terminal, 'err'>, message: string): void {
  terminal.err(`warning: ${plainLine(message)}`);
}
