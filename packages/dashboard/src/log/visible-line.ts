import { styleAfter } from './style-after.ts';

/** Control characters, and what changes the direction of text or hides it: neither is drawn as what it is. */
const HIDDEN = /[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;
const KEPT = new Set(['\t', '\u001b']);

/** What a terminal shows of a line in the end: a carriage return begins it again, as progress bars do. */
export interface VisibleLine {
  readonly text: string;
  /** The ANSI sequence that it begins with. */
  readonly style: string;
  /** How often it was written before. */
  readonly overwritten: number;
}

/** `style` is that of the line. */
export function visibleLine(style: string, line: string): VisibleLine {
  if (!line.includes('\r')) return { text: line, style, overwritten: 0 };
  const parts = line.split('\r');
  let last = parts.length - 1;
  while (last > 0 && parts[last] === '') last -= 1;
  const before = parts.slice(0, last);
  return {
    text: parts[last]!,
    style: styleAfter(style, before.join('')),
    overwritten: before.filter((part) => part !== '').length,
  };
}

/** The text with a visible mark for each character that would not be seen, or that would change the order of others. */
export function markHidden(text: string): string {
  return text.replace(HIDDEN, (char) =>
    KEPT.has(char) ? char : `⟨U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩`,
  );
}
