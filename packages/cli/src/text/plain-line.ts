import { printableLine } from '@sluice/run';
import { onOneLine } from './on-one-line.ts';

/**
 * Text that quotes names or messages from outside, as one line without control characters. Blanks replace line breaks, so
 * that none of them hides what precedes it.
 */
export function plainLine(text: string): string {
  return printableLine(onOneLine(text));
}
